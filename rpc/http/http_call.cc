// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_call.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/http/http_status.h"
#include "rpc/http/json.h"
#include "rpc/wire/payload.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {

HttpCall::HttpCall(ServerSession& session, const Admission& admission, HttpCallRequest request,
                   const HttpAnswerForm& form, std::shared_ptr<const AuthContext> user)
    : ServerCall(session, admission),
      kind_(request.kind),
      form_(form),
      body_(std::move(request.body)) {
  controller().set_deadline(request.deadline);
  controller().set_log_id(request.log_id);
  controller().set_request_id(request.request_id);
  controller().request_user_fields() = std::move(request.user_fields);
  controller().set_auth_context(std::move(user));
}

absl::Status HttpCall::ParseRequest(google::protobuf::Message& request) {
  const Buffer body = std::move(body_);
  if (kind_ == HttpBodyKind::kProtobuf) return ParsePayload(body, request);
  std::string copy;
  if (body.slices().size() == 1) return ParseJson(body.slices()[0].view(), request);
  return ParseJson(copy = body.ToString(), request);
}

void HttpCall::SendAnswer(const google::protobuf::Message* response) {
  int code = controller().ErrorCode();
  HttpResponse answer =
      response != nullptr ? Success(*response, code) : Failure(code, controller().ErrorText());
  for (const UserFields::Field& field : controller().response_user_fields().all()) {
    answer.fields.push_back({absl::StrCat(kUserFieldPrefix, field.first), field.second});
  }
  Count(code);
  Ref();  // for the answer, which unlists the call
  EventLoop& loop = session()->loop();
  loop.RunOrPost([this, kept = session(), keep_alive = form_.keep_alive,
                  bytes = HttpAnswerBytes(std::move(answer), form_)]() mutable {
    // The call may be gone behind this.
    kept->Respond(*this, bytes.head, std::move(bytes.body));
    if (!keep_alive) kept->Close(absl::CancelledError("its last HTTP answer was sent"));
  });
}

HttpResponse HttpCall::Success(const google::protobuf::Message& response, int& code) {
  const auto fail = [this, &code](int why, absl::string_view text) {
    code = why;
    return Failure(why, text);
  };
  HttpResponse answer;
  if (kind_ == HttpBodyKind::kJson) {
    answer.content_type = "application/json";
    absl::StatusOr<std::string> json = ToJson(response);
    if (!json.ok()) return fail(kBadResponse, json.status().message());
    if (json->size() >= UINT32_MAX) return fail(kBadResponse, "the JSON is larger than 4 GiB");
    answer.body = BodyOf(*std::move(json));
    return answer;
  }
  answer.content_type = "application/proto";
  if (absl::Status lacking = CheckRequiredFields(response); !lacking.ok()) {
    return fail(kBadResponse, lacking.message());
  }
  BlockOutputStream stream(session()->pool(), response.ByteSizeLong());
  if (!response.SerializePartialToZeroCopyStream(&stream)) {
    return fail(kOvercrowded, "no blocks for the response (RuntimeOptions::pool.max_bytes)");
  }
  answer.body = stream.Take();
  return answer;
}

HttpResponse HttpCall::Failure(int code, absl::string_view text) {
  return HttpErrorAnswer(HttpStatusOf(code), code, text);
}

}  // namespace farcall
