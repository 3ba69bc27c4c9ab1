// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target on the files of its corpus and on a fixed number of mutations:
//
//   NAME [--mutations=N] [--only=K] [--max_size=BYTES] FILE...
//
// --only runs the K-th mutation alone. When the target fails, its input is written to
// the current directory, or where Bazel collects the outputs of tests.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Of the sanitizers' runtime, where there is one.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

struct Options {
  uint64_t mutations = 20000;
  std::optional<uint64_t> only;
  size_t max_size = 4096;
  std::vector<std::string> files;
};

// What runs now. Set before the target is called, read when it dies.
char running_name[256];
const char* running_data = nullptr;
size_t running_size = 0;
char failed_path[4096] = "fuzz_failed_input";

void Say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

// Async-signal-safe.
void SaveFailedInput() {
  Say("fuzz: failed on ");
  Say(running_name);
  const int file = open(failed_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0 && write(file, running_data, running_size) >= 0) {
    Say("\nfuzz: its input is saved in ");
    Say(failed_path);
    close(file);
  }
  Say("\n");
}

void OnSignal(int signal) {
  SaveFailedInput();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void WatchForFailure() {
  if (const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR")) {
    std::snprintf(failed_path, sizeof(failed_path), "%s/fuzz_failed_input", outputs);
  }
  // With a sanitizer, SIGSEGV and the like are its own, and end in the callback.
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(SaveFailedInput);
    std::signal(SIGABRT, OnSignal);
    return;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, OnSignal);
  }
}

void Run(const std::string& name, const std::string& input) {
  std::snprintf(running_name, sizeof(running_name), "%s", name.c_str());
  // Of just this size, so that AddressSanitizer sees a byte read too many.
  const auto copy = std::make_unique<uint8_t[]>(input.size());
  if (!input.empty()) std::memcpy(copy.get(), input.data(), input.size());
  running_data = input.data();
  running_size = input.size();
  LLVMFuzzerTestOneInput(copy.get(), input.size());
}

bool ReadFile(const std::string& path, std::string& bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return true;
}

bool ParseNumber(const char* argument, const char* name, uint64_t& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  value = std::strtoull(argument + length, nullptr, 10);
  return true;
}

// More than usual for those who have the time, less for the inner loop (CONTRIBUTING.md).
double Factor() {
  const char* const factor = std::getenv("TEST_SEEDS");
  return factor == nullptr ? 1 : std::strtod(factor, nullptr);
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    uint64_t value = 0;
    if (ParseNumber(argv[i], "--mutations=", value)) {
      options.mutations = static_cast<uint64_t>(value * Factor());
    } else if (ParseNumber(argv[i], "--only=", value)) {
      options.only = value;
    } else if (ParseNumber(argv[i], "--max_size=", value)) {
      options.max_size = value;
    } else {
      options.files.emplace_back(argv[i]);
    }
  }
  return options;
}

void RunMutations(const Options& options, const std::vector<std::string>& corpus) {
  farcall::fuzz::Mutator mutator(corpus, options.max_size);
  const uint64_t first = options.only.value_or(0);
  const uint64_t last = options.only.has_value() ? first + 1 : options.mutations;
  for (uint64_t number = first; number < last; ++number) {
    Run("mutation --only=" + std::to_string(number), mutator.Make(number));
  }
  std::printf("fuzz: %zu files, %llu mutations\n", options.files.size(),
              static_cast<unsigned long long>(last - first));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  WatchForFailure();
  std::vector<std::string> corpus;
  for (const std::string& path : options.files) {
    if (!ReadFile(path, corpus.emplace_back())) {
      std::fprintf(stderr, "fuzz: cannot read %s\n", path.c_str());
      return 1;
    }
    if (!options.only.has_value()) Run(path, corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "fuzz: no file of a corpus is given\n");
    return 1;
  }
  RunMutations(options, corpus);
  return 0;
}
