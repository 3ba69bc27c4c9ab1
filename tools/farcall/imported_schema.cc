// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/compiler/importer.h"
#include "tools/farcall/schema.h"

namespace farcall::cli {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::ServiceDescriptor;
namespace compiler = google::protobuf::compiler;

class Errors final : public compiler::MultiFileErrorCollector {
 public:
  // Lines and columns count from 0; -1: the whole file.
  void AddError(const std::string& file, int line, int column,
                const std::string& message) override {
    absl::StrAppend(&text_, text_.empty() ? "" : "\n", file);
    if (line >= 0) absl::StrAppend(&text_, ":", line + 1, ":", column + 1);
    absl::StrAppend(&text_, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class ImportedSchema final : public Schema {
 public:
  absl::Status Import(const std::vector<std::string>& files,
                      const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) tree_.MapPath("", directory);
    if (directories.empty()) tree_.MapPath("", ".");
    // Where protoc has them too, so that google/protobuf/*.proto need no -I.
    tree_.MapPath("", "/usr/include");
    for (const std::string& file : files) {
      const FileDescriptor* const imported = importer_.Import(NameOf(file));
      if (imported == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat(
            "cannot read ", file, " (-I says where files are looked for):\n", errors_.text()));
      }
      for (int i = 0; i < imported->service_count(); ++i) {
        services_.push_back(imported->service(i)->full_name());
      }
    }
    if (services_.empty()) return absl::InvalidArgumentError("the --proto files define no service");
    return absl::OkStatus();
  }

  absl::StatusOr<const ServiceDescriptor*> Find(const std::string& service) override {
    const ServiceDescriptor* const found = importer_.pool()->FindServiceByName(service);
    if (found != nullptr) return found;
    return absl::InternalError(absl::StrCat("the imported files have lost ", service));
  }

 private:
  // A path on the disk, as the name that imports would have for it. A file that is in none of the
  // directories adds its own to them.
  std::string NameOf(const std::string& file) {
    std::string name;
    std::string shadowing;
    if (tree_.DiskFileToVirtualFile(file, &name, &shadowing) == compiler::DiskSourceTree::SUCCESS) {
      return name;
    }
    const size_t slash = file.rfind('/');
    if (slash == std::string::npos || !std::ifstream(file)) return file;
    tree_.MapPath("", file.substr(0, std::max<size_t>(slash, 1)));
    return file.substr(slash + 1);
  }

  Errors errors_;
  compiler::DiskSourceTree tree_;
  compiler::Importer importer_{&tree_, &errors_};
};

}  // namespace

absl::StatusOr<std::unique_ptr<Schema>> ImportFiles(const std::vector<std::string>& files,
                                                    const std::vector<std::string>& directories) {
  auto schema = std::make_unique<ImportedSchema>();
  if (absl::Status status = schema->Import(files, directories); !status.ok()) return status;
  return schema;
}

}  // namespace farcall::cli
