// SPDX-License-Identifier: Apache-2.0

// Debian's abseil is built without ThreadSanitizer. So TSan does not see how the owners of an
// absl::Status are counted, and reports a race where one thread compares its payloads, which are
// cords, and another one frees them as the last owner. The same where the last owner but one has
// let go inside the library: the last one then frees, in the header's Unref, what the other thread
// has counted. What our own code does with a Status is still watched.
// The format: https://github.com/google/sanitizers/wiki/ThreadSanitizerSuppressions
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libabsl_status.so\n"
         "called_from_lib:libabsl_cord.so\n"
         "race:Unref\n";
}
