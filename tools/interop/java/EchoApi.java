// SPDX-License-Identifier: Apache-2.0

package farcall.interop;

import com.baidu.brpc.protocol.BrpcMeta;

/** EchoService of interop.proto as brpc-java wants it: an interface with names. */
public interface EchoApi {
  String SERVICE = "farcall.interop.EchoService";

  @BrpcMeta(serviceName = SERVICE, methodName = "Echo")
  Messages.Response echo(Messages.Request request);

  @BrpcMeta(serviceName = SERVICE, methodName = "Stop")
  Messages.Response stop(Messages.Request request);
}
