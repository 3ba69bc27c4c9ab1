// SPDX-License-Identifier: Apache-2.0

// Debian's abseil is built without ThreadSanitizer, which so does not see that the last owner of an
// absl::Status counts down after the others: it takes one thread's comparing of payloads, which are
// cords, and another's freeing of them for a race. What our own code does with a Status is still
// watched. The format: https://github.com/google/sanitizers/wiki/ThreadSanitizerSuppressions
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libabsl_status.so\n"
         "called_from_lib:libabsl_cord.so\n";
}
