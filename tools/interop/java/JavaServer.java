// SPDX-License-Identifier: Apache-2.0

package farcall.interop;

import com.baidu.brpc.RpcContext;
import com.baidu.brpc.protocol.Options;
import com.baidu.brpc.server.RpcServer;
import com.baidu.brpc.server.RpcServerOptions;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** JavaServer PORT: serves EchoService until Stop is called or it is killed. */
public final class JavaServer {
  private static final CountDownLatch STOP = new CountDownLatch(1);
  /** Calls that sleep. */
  private static final AtomicInteger SLEEPING = new AtomicInteger();

  /** brpc-java wants a class with exactly one interface. */
  public static final class Echo implements EchoApi {
    @Override
    public Messages.Response echo(Messages.Request request) {
      if (request.getSleepMs() > 0) {
        SLEEPING.incrementAndGet();
        sleep(request.getSleepMs());
        SLEEPING.decrementAndGet();
      }
      if (request.hasFailText()) {
        throw new IllegalStateException(request.getFailText());
      }
      RpcContext context = RpcContext.getContext();
      ByteBuf attachment = context.getRequestBinaryAttachment();
      if (attachment != null) {
        // A copy: that of the request is released after the handler.
        context.setResponseBinaryAttachment(Unpooled.copiedBuffer(attachment));
      }
      return answer(request);
    }

    @Override
    public Messages.Response stop(Messages.Request request) {
      // So many calls must be under way when the server stops.
      for (int i = 0; i < 500 && SLEEPING.get() < request.getSleepers(); ++i) {
        sleep(10);
      }
      STOP.countDown();
      return answer(request);
    }

    private static Messages.Response answer(Messages.Request request) {
      return Messages.Response.newBuilder().setMessage(request.getMessage()).build();
    }

    private static void sleep(int millis) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
    }
  }

  private JavaServer() {}

  public static void main(String[] arguments) throws InterruptedException {
    RpcServerOptions options = new RpcServerOptions();
    options.setProtocolType(Options.ProtocolType.PROTOCOL_BAIDU_STD_VALUE);
    // By default as many as cores: sleeping handlers would starve the others.
    options.setWorkThreadNum(16);
    RpcServer server = new RpcServer(Integer.parseInt(arguments[0]), options);
    server.registerService(new Echo());
    server.start();
    STOP.await();
    server.shutdown();
    // Threads of the library would keep the process for seconds.
    System.exit(0);
  }
}
