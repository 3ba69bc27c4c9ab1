// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/doctor/checks/checks.h"

namespace farcall::doctor {
namespace {

constexpr const char* kCheck = "device files";

bool Refused(int error) { return error == EACCES || error == EPERM; }

std::string Trouble(const FileFact& file) {
  const std::string owner = file.owner.empty() ? "" : absl::StrCat(" (", file.owner, ")");
  return absl::StrCat(file.path, owner, ": ", std::generic_category().message(file.error));
}

// EPERM of a character device is the word of the device cgroup, or of RDMA in exclusive mode for a
// device of another network namespace (ib_uverbs_open); EACCES that of its mode.
std::string CureOf(const FileFact& file) {
  if (file.error == EPERM) {
    return "in a pod, request the RDMA resource of the device plugin; where namespaces are "
           "exclusive (rdma system show), the device must also be moved into the pod: rdma-cni";
  }
  return absl::StrCat("chmod 0666 ", file.path,
                      " (a rule of udev), or the group that owns it for this user");
}

Finding CheckUverbs(const DeviceFileFacts& facts, const std::string& device,
                    const std::string& name) {
  const std::string path = "/dev/infiniband/" + name;
  for (const FileFact& file : facts.uverbs) {
    if (file.path != path) continue;
    if (file.error == 0) return Ok(kCheck, device, path + " opens");
    const bool refused = Refused(file.error);
    return Failed(kCheck, device, Trouble(file),
                  refused ? "this process may not use the device (reason device_not_permitted)"
                          : "the device does not open",
                  refused ? CureOf(file) : "dmesg; the driver says why");
  }
  return Failed(kCheck, device, absl::StrCat(path, " is not here"),
                "sysfs shows the device of the host, but this container was not given it",
                "in a pod, request the RDMA resource; on a host, modprobe ib_uverbs");
}

}  // namespace

Findings CheckDeviceFiles(const DeviceFileFacts& facts) {
  Findings findings;
  if (!facts.directory) {
    findings.push_back(Failed(
        kCheck, "", "there is no /dev/infiniband",
        facts.uverbs_of.empty()
            ? "this host has no RDMA driver loaded, or this container was given no RDMA device"
            : "the host has RDMA devices, and this container was given none",
        "host: load the driver of the adapter (modprobe mlx5_ib, ib_uverbs, rdma_ucm); pod: "
        "request the RDMA resource of the device plugin"));
    return findings;
  }
  for (const auto& [device, name] : facts.uverbs_of) {
    findings.push_back(CheckUverbs(facts, device, name));
  }
  if (findings.empty()) {
    const bool any = !facts.uverbs.empty();
    findings.push_back(
        {kCheck, "", any ? Verdict::kUnknown : Verdict::kFailed,
         any ? absl::StrCat(facts.uverbs.size(), " uverbs files; sysfs does not tell whose")
             : "/dev/infiniband has no uverbs file",
         any ? "/sys/class/infiniband_verbs is masked here" : "no device can be opened",
         any ? "" : "host: load the adapter's driver; pod: request the RDMA resource"});
  }
  return findings;
}

Finding CheckConnectionManager(const DeviceFileFacts& facts) {
  constexpr const char* kName = "rdma_cm";
  const FileFact& file = facts.rdma_cm;
  if (file.error == ENOENT) {
    return Failed(kName, "", file.path + " is not here",
                  "connections are made by rdma_cm; without it librdmacm shows no device",
                  facts.rdma_ucm ? "the kernel has it and this container was not given it: "
                                   "k8s-rdma-shared-dev-plugin of v1.5.2 or later gives it"
                                 : "modprobe rdma_ucm on the node");
  }
  if (file.error == ENXIO || file.error == ENODEV) {
    return Failed(kName, "", Trouble(file),
                  "the file is here, and the kernel has nothing behind it",
                  "modprobe rdma_ucm on the node");
  }
  if (file.error != 0) {
    return Failed(kName, "", Trouble(file),
                  "connections are made by rdma_cm (reason device_not_permitted)", CureOf(file));
  }
  if (!facts.channel_tried) {
    return Unknown(kName, "", file.path + " opens; the library was not asked");
  }
  if (!facts.channel_error.empty()) {
    return Failed(
        kName, "",
        absl::StrCat(file.path, " opens; rdma_create_event_channel: ", facts.channel_error),
        "no connection can be made",
        facts.uverbs_of.empty() ? "librdmacm wants a device first: see devices"
                                : "librdmacm and the kernel do not fit: dmesg, rping -s");
  }
  return Ok(kName, "", file.path + " opens, and an event channel was made");
}

}  // namespace farcall::doctor
