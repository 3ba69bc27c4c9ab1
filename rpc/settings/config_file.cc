// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/config_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/base/errno_status.h"
#include "yaml-cpp/yaml.h"

namespace farcall {
namespace {

// Names have two parts; whoever nests deeper has made a mistake.
constexpr int kMaxDepth = 4;

std::string Place(absl::string_view path, const YAML::Mark& mark) {
  return mark.is_null() ? std::string(path) : absl::StrCat(path, ":", mark.line + 1);
}

absl::Status Wrong(const std::string& place, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(place, ": ", what));
}

class Flattener {
 public:
  explicit Flattener(absl::string_view path) : path_(path) {}

  absl::Status Add(const YAML::Node& node, const std::string& name, int depth) {
    const std::string place = Place(path_, node.Mark());
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return absl::OkStatus();
      case YAML::NodeType::Scalar:
        return AddValue(name, node.Scalar(), place);
      case YAML::NodeType::Sequence:
        return AddList(node, name, place);
      case YAML::NodeType::Map:
        break;
    }
    if (depth == kMaxDepth) return Wrong(place, "maps are nested too deep");
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return Wrong(Place(path_, entry.first.Mark()), kNotAName);
      const std::string& key = entry.first.Scalar();
      const std::string full = name.empty() ? key : absl::StrCat(name, ".", key);
      if (absl::Status status = Add(entry.second, full, depth + 1); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  std::vector<Setting> Take() { return std::move(settings_); }

 private:
  static constexpr absl::string_view kNotAName = "a name is expected here";

  absl::Status AddValue(const std::string& name, std::string value, const std::string& place) {
    if (name.empty()) {
      return Wrong(place, "names and values are expected, as in \"event_loops: 4\"");
    }
    for (const Setting& other : settings_) {
      if (other.name != name) continue;
      return Wrong(place, absl::StrCat(name, " was set before, at ", other.from));
    }
    settings_.push_back({name, std::move(value), place});
    return absl::OkStatus();
  }

  absl::Status AddList(const YAML::Node& node, const std::string& name, const std::string& place) {
    std::vector<std::string> values;
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        return Wrong(Place(path_, item.Mark()),
                     absl::StrCat("the list ", name, " may have texts and numbers only"));
      }
      if (item.Scalar().empty()) {
        return Wrong(Place(path_, item.Mark()),
                     absl::StrCat("the list ", name, " has an empty text"));
      }
      values.push_back(item.Scalar());
    }
    return AddValue(name, absl::StrJoin(values, ","), place);
  }

  const absl::string_view path_;
  std::vector<Setting> settings_;
};

}  // namespace

absl::StatusOr<std::vector<Setting>> ParseConfig(absl::string_view text, absl::string_view path) {
  if (text.size() > kMaxConfigBytes) {
    return Wrong(std::string(path), absl::StrCat("it has more than ", kMaxConfigBytes, " bytes"));
  }
  // yaml-cpp tells its errors by exceptions.
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) {
      return Wrong(Place(path, documents[1].Mark()), "a second document (---) begins; one is read");
    }
    Flattener flattener(path);
    for (const YAML::Node& root : documents) {
      if (absl::Status status = flattener.Add(root, "", 0); !status.ok()) return status;
    }
    return flattener.Take();
  } catch (const YAML::Exception& error) {
    return Wrong(Place(path, error.mark), absl::StrCat("no YAML: ", absl::CHexEscape(error.msg)));
  }
}

absl::StatusOr<std::vector<Setting>> ReadConfig(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (file == nullptr) return Annotate(ErrnoStatus(errno), path);
  std::string text(kMaxConfigBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return Annotate(ErrnoStatus(errno), path);
  return ParseConfig(text, path);
}

}  // namespace farcall
