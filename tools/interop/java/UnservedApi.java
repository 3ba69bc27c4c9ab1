// SPDX-License-Identifier: Apache-2.0

package farcall.interop;

import com.baidu.brpc.protocol.BrpcMeta;

/** What no server has. */
public interface UnservedApi {
  @BrpcMeta(serviceName = EchoApi.SERVICE, methodName = "Missing")
  Messages.Response missingMethod(Messages.Request request);

  @BrpcMeta(serviceName = "farcall.interop.AbsentService", methodName = "Echo")
  Messages.Response absentService(Messages.Request request);
}
