// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/doctor/checks/checks.h"

namespace farcall::doctor {
namespace {

constexpr const char* kCheck = "libraries";

// The provider of libibverbs for a kernel driver, where its name is not that of the driver up to
// an underscore.
std::string ProviderFor(const std::string& driver) {
  constexpr std::pair<const char*, const char*> kOthers[] = {
      {"bnxt_en", "bnxt_re"}, {"ice", "irdma"}, {"i40e", "irdma"},     {"idpf", "irdma"},
      {"rdma_rxe", "rxe"},    {"hns3", "hns"},  {"mana", "mana"},      {"vmw_pvrdma", "vmw_pvrdma"},
      {"cxgb4", "cxgb4"},     {"qede", "qedr"}, {"hfi1", "hfi1verbs"}, {"bnxt_re", "bnxt_re"},
      {"iw_cxgb4", "cxgb4"},
  };
  for (const auto& [name, provider] : kOthers) {
    if (driver == name) return provider;
  }
  return driver.substr(0, driver.find('_'));
}

}  // namespace

Findings CheckLibraries(const LibraryFacts& facts, size_t listed) {
  if (!facts.error.empty()) {
    return {Failed(kCheck, "", facts.error,
                   "without libibverbs and librdmacm no program can use RDMA (reason no_library)",
                   "apt-get install libibverbs1 librdmacm1 ibverbs-providers")};
  }
  if (facts.providers.empty() && listed > 0) {
    return {Unknown(
        kCheck, "",
        absl::StrCat("libibverbs and librdmacm load; where their providers lie was not found, "
                     "and devices are listed: ",
                     listed))};
  }
  if (facts.providers.empty()) {
    return {Degraded(kCheck, "", "libibverbs and librdmacm load; no provider was found",
                     "libibverbs knows no device without the part that is made for its driver",
                     "apt-get install ibverbs-providers")};
  }
  return {
      Ok(kCheck, "",
         absl::StrCat("libibverbs and librdmacm load; ", facts.providers.size(), " providers"))};
}

Finding CheckProvider(const LibraryFacts& facts, const std::string& device,
                      const std::string& driver, bool listed) {
  const std::string provider = ProviderFor(driver);
  const std::string prefix = absl::StrCat("lib", provider, "-");
  const auto file =
      std::find_if(facts.providers.begin(), facts.providers.end(),
                   [&](const std::string& name) { return absl::StartsWith(name, prefix); });
  if (listed) {
    return Ok(kCheck, device,
              file == facts.providers.end() ? "libibverbs knows it"
                                            : absl::StrCat("libibverbs knows it by ", *file));
  }
  if (!facts.error.empty()) {
    return Failed(kCheck, device, "not asked for: the libraries do not load");
  }
  if (file == facts.providers.end() && !driver.empty()) {
    return Failed(
        kCheck, device,
        absl::StrCat("its driver is ", driver, ", and there is no provider ", prefix, "*.so"),
        "libibverbs passes over a device that it has no provider for (reason no_device)",
        "apt-get install ibverbs-providers, or the vendor's user libraries in this image");
  }
  return Failed(kCheck, device, "libibverbs does not list it",
                "its file /dev/infiniband/uverbs* is not here, or its provider does not match",
                "see device files; strace -e openat ibv_devices shows what it looks for");
}

}  // namespace farcall::doctor
