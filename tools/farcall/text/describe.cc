// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/describe.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"

namespace farcall::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

constexpr int kSampleDepth = 4;

// Types that stand in a file of their own right; nested ones are shown inside theirs.
class Types {
 public:
  void Add(const Descriptor& message) {
    const Descriptor* outermost = &message;
    while (outermost->containing_type() != nullptr) outermost = outermost->containing_type();
    if (!seen_.insert(outermost->full_name()).second) return;
    text_.push_back(outermost->DebugString());
    AddFieldsOf(*outermost);
  }
  const std::vector<std::string>& text() const { return text_; }

 private:
  void AddFieldsOf(const Descriptor& message) {
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      if (field.message_type() != nullptr) Add(*field.message_type());
      if (field.enum_type() != nullptr) Add(*field.enum_type());
    }
    for (int i = 0; i < message.nested_type_count(); ++i) AddFieldsOf(*message.nested_type(i));
  }
  void Add(const EnumDescriptor& type) {
    if (type.containing_type() != nullptr) return Add(*type.containing_type());
    if (seen_.insert(type.full_name()).second) text_.push_back(type.DebugString());
  }

  std::set<std::string> seen_;
  std::vector<std::string> text_;
};

std::string SampleOf(const Descriptor& message, int depth);

std::string SampleValue(const FieldDescriptor& field, int depth) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "false";
    case FieldDescriptor::CPPTYPE_STRING:
      return "\"\"";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat("\"", field.enum_type()->value(0)->name(), "\"");
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return SampleOf(*field.message_type(), depth);
    // In JSON, numbers of 64 bits are text.
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return "\"0\"";
    default:
      return "0";
  }
}

std::string SampleOf(const Descriptor& message, int depth) {
  // Those have a form of their own in JSON (protobuf's mapping).
  const std::string& name = message.full_name();
  if (name == "google.protobuf.Timestamp") return "\"2000-01-01T00:00:00Z\"";
  if (name == "google.protobuf.Duration") return "\"0s\"";
  if (depth == 0) return "{}";
  std::string json;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    // Of a oneof, the first.
    const auto* const oneof = field.real_containing_oneof();
    if (oneof != nullptr && oneof->field(0) != &field) continue;
    absl::StrAppend(&json, json.empty() ? "" : ", ", "\"", field.name(), "\": ");
    if (field.is_map()) {
      absl::StrAppend(&json, "{}");
    } else if (field.is_repeated()) {
      absl::StrAppend(&json, "[", SampleValue(field, depth - 1), "]");
    } else {
      absl::StrAppend(&json, SampleValue(field, depth - 1));
    }
  }
  return absl::StrCat("{", json, "}");
}

}  // namespace

std::string DescribeMethods(const ServiceDescriptor& service) {
  std::string text;
  for (int i = 0; i < service.method_count(); ++i) {
    const MethodDescriptor& method = *service.method(i);
    absl::StrAppend(&text, "  ", method.name(), "(", method.input_type()->full_name(), ") -> ",
                    method.output_type()->full_name(), "\n");
  }
  return text;
}

std::string DescribeService(const ServiceDescriptor& service) {
  Types types;
  for (int i = 0; i < service.method_count(); ++i) {
    types.Add(*service.method(i)->input_type());
    types.Add(*service.method(i)->output_type());
  }
  std::string text = service.DebugString();
  for (const std::string& type : types.text()) absl::StrAppend(&text, "\n", type);
  return text;
}

std::string SampleJson(const Descriptor& message) { return SampleOf(message, kSampleDepth); }

}  // namespace farcall::cli
