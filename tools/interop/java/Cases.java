// SPDX-License-Identifier: Apache-2.0

package farcall.interop;

import com.baidu.brpc.RpcContext;
import com.baidu.brpc.client.channel.ChannelType;
import com.baidu.brpc.client.channel.Endpoint;
import com.baidu.brpc.exceptions.RpcException;
import com.baidu.brpc.protocol.Options.CompressType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What brpc-java's client expects of a farcall server. */
final class Cases {
  /** A case, which fails by any exception. */
  interface Case {
    void run() throws Exception;
  }

  private static final int THREADS = 8;
  private static final int CALLS = 10_000;
  private static final int MIB = 1 << 20;

  private final Endpoint endpoint;

  Cases(Endpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** In the order in which they run. */
  Map<String, Case> all() {
    Map<String, Case> cases = new LinkedHashMap<>();
    cases.put("first_call_has_id_0", this::firstCall);
    cases.put("echo", this::echo);
    cases.put("attachments", this::attachments);
    cases.put("compress_none", () -> compressed(CompressType.COMPRESS_TYPE_NONE));
    cases.put("compress_snappy", () -> compressed(CompressType.COMPRESS_TYPE_SNAPPY));
    cases.put("compress_gzip", () -> compressed(CompressType.COMPRESS_TYPE_GZIP));
    cases.put("compress_zlib", () -> compressed(CompressType.COMPRESS_TYPE_ZLIB));
    cases.put("handler_errors", this::handlerErrors);
    cases.put("unknown_service", this::unknownService);
    cases.put("unknown_method", this::unknownMethod);
    cases.put("timeout", this::timeout);
    cases.put("log_id", this::logId);
    cases.put("key_value_attachment", this::keyValueAttachment);
    cases.put("calls_10000_on_8_threads", () -> calls(ChannelType.POOLED_CONNECTION, CALLS));
    cases.put("connection_single", () -> calls(ChannelType.SINGLE_CONNECTION, 800));
    cases.put("connection_short", () -> calls(ChannelType.SHORT_CONNECTION, 400));
    cases.put("server_stop", this::serverStop);
    return cases;
  }

  /** The first of the process, with an explicit 0: the answer must carry it. */
  private void firstCall() {
    Peer.of(endpoint).expectEcho("first");
  }

  private void echo() {
    Peer peer = Peer.of(endpoint);
    peer.expectEcho("");
    peer.expectEcho("h\u00e4llo \u4f60\u597d");
    for (int size : new int[] {16, 1000, 200_000, 3 * MIB}) {
      peer.expectEcho(Peer.text(size));
    }
  }

  private void attachments() {
    Peer peer = Peer.of(endpoint);
    for (int size : new int[] {1, 4095, 4096, 200_000, 3 * MIB}) {
      peer.expectEcho("with", Peer.pattern(size, 1));
      peer.expectEcho("without");
    }
  }

  private void compressed(CompressType type) {
    Peer peer = Peer.of(endpoint, type, ChannelType.POOLED_CONNECTION);
    for (int size : new int[] {0, 16, 200_000, 3 * MIB}) {
      peer.expectEcho(Peer.text(size));
      peer.expectEcho(Peer.text(size), Peer.pattern(10_000, 2));
    }
  }

  /** brpc-java shows the text only, and drops the number. */
  private static void expectRefusal(RpcException error, String text) {
    Peer.expect(error.getMessage().contains(text), "expected " + text + ", got " + error);
    Peer.expect(!error.isTimeout(), "a timeout: " + error);
  }

  private void handlerErrors() {
    Peer peer = Peer.of(endpoint);
    for (String text : new String[] {"the disk is full", "\u78c1\u76d8"}) {
      Messages.Request.Builder request = Peer.request("fail").setFailCode(1234).setFailText(text);
      expectRefusal(Peer.refusal(() -> peer.call(request)), text);
    }
    peer.expectEcho("as before", Peer.pattern(100, 3));
  }

  private UnservedApi unserved() {
    return Peer.proxy(
        UnservedApi.class,
        endpoint,
        CompressType.COMPRESS_TYPE_NONE,
        ChannelType.POOLED_CONNECTION);
  }

  private void unknownService() {
    UnservedApi api = unserved();
    Messages.Request request = Peer.request("nobody serves it").build();
    expectRefusal(Peer.refusal(() -> api.absentService(request)), "AbsentService");
  }

  private void unknownMethod() {
    UnservedApi api = unserved();
    Messages.Request request = Peer.request("nobody serves it").build();
    expectRefusal(Peer.refusal(() -> api.missingMethod(request)), "Missing");
  }

  private void timeout() {
    Peer peer = Peer.of(endpoint);
    RpcContext.getContext().setReadTimeoutMillis(300);
    RpcException error = Peer.refusal(() -> peer.call(Peer.request("slow").setSleepMs(800)));
    Peer.expect(error.isTimeout(), "not a timeout: " + error);
    // The late answer comes meanwhile, and nobody waits for it.
    Messages.Response response = peer.call(Peer.request("slow").setSleepMs(1000));
    Peer.expect(response.getMessage().equals("slow"), "another answer");
    peer.expectEcho("as before");
  }

  private void logId() {
    Peer peer = Peer.of(endpoint);
    RpcContext.getContext().setLogId(0x0123456789abcdefL);
    Messages.Response response = peer.call(Peer.request("log"));
    Peer.expect(response.getLogId() == 0x0123456789abcdefL, "log_id " + response.getLogId());
  }

  /** It goes where brpc has request_id: bytes that are no id, and no reason to refuse a call. */
  private void keyValueAttachment() {
    Peer peer = Peer.of(endpoint);
    RpcContext.getContext().setRequestKvAttachment("key", "value");
    RpcContext.getContext().setRequestKvAttachment("other", "\u00ff\u4f60");
    peer.expectEcho("key and value");
    peer.expectEcho("as before");
  }

  private void calls(ChannelType connections, int count) throws Exception {
    Peer peer = Peer.of(endpoint, CompressType.COMPRESS_TYPE_NONE, connections);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    List<Future<?>> work = new ArrayList<>();
    for (int thread = 0; thread < THREADS; ++thread) {
      int number = thread;
      work.add(
          threads.submit(
              () -> {
                for (int i = 0; i < count / THREADS; ++i) {
                  byte[] attachment = Peer.pattern(i % 10 == 0 ? i * 10 : 0, number);
                  peer.expectEcho("thread " + number + " call " + i, attachment);
                }
              }));
    }
    threads.shutdown();
    for (Future<?> one : work) {
      one.get(60, TimeUnit.SECONDS);
    }
  }

  /**
   * The server finishes what runs, refuses then, and calls succeed again once it is back.
   *
   * <p>brpc-java hands answers to another thread. When a connection ends, it fails the calls on it
   * at once, also one whose answer has come but was not handed over yet. So a second call keeps the
   * connection open; how that one ends does not matter.
   */
  private void serverStop() throws Exception {
    Peer peer =
        Peer.of(endpoint, CompressType.COMPRESS_TYPE_NONE, ChannelType.SINGLE_CONNECTION);
    peer.expectEcho("before");
    ExecutorService threads = Executors.newFixedThreadPool(2);
    Future<Messages.Response> inFlight =
        threads.submit(() -> peer.call(Peer.request("in flight").setSleepMs(1000)));
    threads.submit(() -> peer.call(Peer.request("holds the connection").setSleepMs(3000)));
    threads.shutdown();
    peer.stop(2);
    Messages.Response response = inFlight.get(20, TimeUnit.SECONDS);
    Peer.expect(response.getMessage().equals("in flight"), "another answer");
    peer.until(false, "calls fail once the server has stopped");
    peer.until(true, "calls succeed again");
    peer.expectEcho("after", Peer.pattern(100, 4));
  }
}
