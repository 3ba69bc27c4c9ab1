// SPDX-License-Identifier: Apache-2.0

package farcall.interop;

import com.baidu.brpc.client.channel.Endpoint;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * JavaClient PORT PREFIX [CASE...]: runs all cases, or those named, against the farcall server.
 * Prints "PASS PREFIXcase (seconds)" or "FAIL PREFIXcase: why" for each.
 */
public final class JavaClient {
  private JavaClient() {}

  private static boolean passes(String name, Cases.Case one) {
    long begin = System.nanoTime();
    String why = null;
    try {
      one.run();
    } catch (Exception error) {
      why = error.toString().replace('\n', ' ');
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    String line = why == null ? "PASS " + name : "FAIL " + name + ": " + why;
    System.out.println(line + String.format(Locale.ROOT, " (%.1f s)", seconds));
    return why == null;
  }

  public static void main(String[] arguments) {
    Endpoint endpoint = new Endpoint("127.0.0.1", Integer.parseInt(arguments[0]));
    List<String> wanted = Arrays.asList(arguments).subList(2, arguments.length);
    int run = 0;
    int failed = 0;
    for (Map.Entry<String, Cases.Case> one : new Cases(endpoint).all().entrySet()) {
      if (wanted.isEmpty() || wanted.contains(one.getKey())) {
        ++run;
        failed += passes(arguments[1] + one.getKey(), one.getValue()) ? 0 : 1;
      }
    }
    // Threads of the library would keep the process for seconds.
    System.exit(failed == 0 && run > 0 ? 0 : 1);
  }
}
