// SPDX-License-Identifier: Apache-2.0

#include "rpc/request_meta.h"

#include <algorithm>
#include <string>

namespace farcall {
namespace {

void SetText(const std::string& from, std::string& to) { to.assign(from.data(), from.size()); }

}  // namespace

int64_t TimeoutOf(const Controller& controller, const ChannelOptions& options) {
  const int64_t own = controller.timeout_ms();
  return std::min<int64_t>(own == Controller::kNotSet ? options.timeout_ms : own, INT32_MAX);
}

wire::RpcMeta& RequestMeta(const google::protobuf::MethodDescriptor& method, uint64_t call_id,
                           Controller& controller, int64_t timeout_ms) {
  thread_local wire::RpcMeta meta;
  meta.Clear();
  wire::RpcRequestMeta& request = *meta.mutable_request();
  SetText(method.service()->full_name(), *request.mutable_service_name());
  SetText(method.name(), *request.mutable_method_name());
  if (controller.log_id() != 0) request.set_log_id(controller.log_id());
  if (!controller.request_id().empty()) request.add_request_id(controller.request_id());
  if (timeout_ms > 0) request.set_timeout_ms(static_cast<int32_t>(timeout_ms));
  for (const UserFields::Field& field : controller.request_user_fields().all()) {
    wire::UserField& sent = *meta.add_user_fields();
    sent.set_key(field.first);
    sent.set_value(field.second);
  }
  meta.set_correlation_id(static_cast<int64_t>(call_id));
  return meta;
}

std::optional<PlainMeta::Request> PlainRequestMeta(const google::protobuf::MethodDescriptor& method,
                                                   uint64_t call_id, const Controller& controller,
                                                   int64_t timeout_ms) {
  const std::string& service_name = method.service()->full_name();
  const std::string& method_name = method.name();
  if (service_name.size() + method_name.size() > PlainMeta::kMaxNames) return std::nullopt;
  if (!controller.request_id().empty() || !controller.request_user_fields().empty()) {
    return std::nullopt;
  }
  return PlainMeta::Request{.service_name = service_name,
                            .method_name = method_name,
                            .log_id = controller.log_id(),
                            .timeout_ms = timeout_ms > 0 ? static_cast<int32_t>(timeout_ms) : 0,
                            .correlation_id = static_cast<int64_t>(call_id)};
}

}  // namespace farcall
