// SPDX-License-Identifier: Apache-2.0

package farcall.interop;

import com.baidu.brpc.RpcContext;
import com.baidu.brpc.client.BrpcProxy;
import com.baidu.brpc.client.RpcClient;
import com.baidu.brpc.client.RpcClientOptions;
import com.baidu.brpc.client.channel.ChannelType;
import com.baidu.brpc.client.channel.Endpoint;
import com.baidu.brpc.exceptions.RpcException;
import com.baidu.brpc.protocol.Options;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/** A client of the farcall server, and what its cases share. Any thread. */
final class Peer {
  /** Ends a case: what was expected and did not happen. */
  static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;

    Failure(String why) {
      super(why);
    }
  }

  private final EchoApi echo;

  private Peer(EchoApi echo) {
    this.echo = echo;
  }

  /** Never closed: RpcClient.stop() takes 2 s, and the process ends soon. */
  static Peer of(Endpoint endpoint, Options.CompressType compress, ChannelType connections) {
    return new Peer(proxy(EchoApi.class, endpoint, compress, connections));
  }

  static Peer of(Endpoint endpoint) {
    return of(endpoint, Options.CompressType.COMPRESS_TYPE_NONE, ChannelType.POOLED_CONNECTION);
  }

  /** One proxy for each client, as brpc-java has it. */
  static <T> T proxy(
      Class<T> api,
      Endpoint endpoint,
      Options.CompressType compress,
      ChannelType connections) {
    RpcClientOptions options = new RpcClientOptions();
    options.setProtocolType(Options.ProtocolType.PROTOCOL_BAIDU_STD_VALUE);
    options.setReadTimeoutMillis(10_000);
    // It would repeat application errors and timeouts, too.
    options.setMaxTryTimes(1);
    options.setCompressType(compress);
    options.setChannelType(connections);
    return BrpcProxy.getProxy(new RpcClient(endpoint, options), api);
  }

  static void expect(boolean holds, String why) {
    if (!holds) {
      throw new Failure(why);
    }
  }

  /** Of `size` bytes, compressible. */
  static String text(int size) {
    StringBuilder text = new StringBuilder(size + 20);
    for (int i = 0; text.length() < size; ++i) {
      text.append("value ").append(i % 977).append("; ");
    }
    text.setLength(size);
    return text.toString();
  }

  static byte[] pattern(int size, int seed) {
    byte[] bytes = new byte[size];
    for (int i = 0; i < size; ++i) {
      bytes[i] = (byte) (i * 31 + i / 251 + seed);
    }
    return bytes;
  }

  static Messages.Request.Builder request(String message) {
    return Messages.Request.newBuilder().setMessage(message);
  }

  Messages.Response call(Messages.Request.Builder request) {
    return echo.echo(request.build());
  }

  Messages.Response stop(int sleepers) {
    return echo.stop(request("stop").setSleepers(sleepers).build());
  }

  /** Expects message and attachment back; no attachment where it is empty. */
  void expectEcho(String message, byte[] attachment) {
    String what = "echo of " + message.length() + " + " + attachment.length + " bytes";
    if (attachment.length > 0) {
      RpcContext.getContext().setRequestBinaryAttachment(attachment);
    }
    Messages.Response response = call(request(message));
    expect(response.getMessage().equals(message), what + ": the message differs");
    ByteBuf answer = RpcContext.getContext().getResponseBinaryAttachment();
    byte[] bytes = new byte[0];
    if (answer != null) {
      bytes = new byte[answer.readableBytes()];
      answer.readBytes(bytes);
      answer.release();
    }
    expect(Arrays.equals(bytes, attachment), what + ": the attachment differs");
  }

  void expectEcho(String message) {
    expectEcho(message, new byte[0]);
  }

  /** The error with which `call` ends. */
  static RpcException refusal(Runnable call) {
    try {
      call.run();
    } catch (RpcException error) {
      return error;
    }
    throw new Failure("the call succeeded");
  }

  /** Of 40 s at most: until calls succeed, or fail. */
  void until(boolean success, String what) throws InterruptedException {
    long end = System.nanoTime() + 40_000_000_000L;
    for (; ; ) {
      String last = "success";
      try {
        call(request("again"));
      } catch (RpcException error) {
        last = error.toString();
      }
      if (last.equals("success") == success) {
        return;
      }
      expect(System.nanoTime() < end, what + ": not within 40 s; the last call: " + last);
      Thread.sleep(20);
    }
  }
}
