// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/private_data.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "transport/base/big_endian.h"
#include "transport/base/check.h"
#include "transport/rdma/flow/credit_flow.h"

namespace farcall {
namespace {

constexpr uint32_t kConnectMagic = 0x46437271;  // "FCrq"
constexpr uint32_t kAcceptMagic = 0x46436163;   // "FCac"
constexpr uint32_t kRejectMagic = 0x4643726a;   // "FCrj"
constexpr size_t kCommonBytes = 6;              // magic, version, length

// What rdma_cm carries for a reliable connection: rdma_connect(3), and the sizes of the
// private data of REP and REJ of the InfiniBand specification, 12.6, without the header of
// rdma_cm, which connect alone has. A length is a byte.
static_assert(ConnectData::kMaxBytes <= 56);
static_assert(AcceptData::kMaxBytes <= 196);
static_assert(RejectData::kHeaderBytes + RejectData::kMaxText <= 148);

void PutCommon(uint32_t magic, size_t length, char* out) {
  PutBigEndian<uint32_t>(magic, out);
  out[4] = static_cast<char>(kPrivateDataVersion);
  out[5] = static_cast<char>(static_cast<uint8_t>(length));
}

// The bytes that the length covers, at least `least` of them.
absl::StatusOr<absl::string_view> CheckCommon(absl::string_view bytes, uint32_t magic,
                                              size_t least) {
  if (bytes.size() < kCommonBytes || GetBigEndian<uint32_t>(bytes.data()) != magic) {
    return absl::InvalidArgumentError("the RDMA private data is not farcall's");
  }
  const auto version = static_cast<uint8_t>(bytes[4]);
  if (version < kPrivateDataVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("the RDMA private data has version ", version, ", not ", kPrivateDataVersion));
  }
  const size_t length = static_cast<uint8_t>(bytes[5]);
  if (length < least || length > bytes.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the RDMA private data has a length of ", length,
                                                   ", not ", least, " to ", bytes.size()));
  }
  return bytes.substr(0, length);
}

absl::Status CheckTerms(const ReceiveTerms& terms) {
  if (terms.block_bytes < ReceiveTerms::kMinBlock || terms.block_bytes > ReceiveTerms::kMaxBlock) {
    return absl::InvalidArgumentError(
        absl::StrCat("the RDMA peer has receives of ", terms.block_bytes, " bytes, not ",
                     ReceiveTerms::kMinBlock, " to ", ReceiveTerms::kMaxBlock));
  }
  if (terms.initial_receives < CreditLimits::kMin || terms.initial_receives > terms.receive_slots ||
      terms.receive_slots > CreditLimits::kMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the RDMA peer gives ", terms.initial_receives, " of ", terms.receive_slots,
        " receives, not ", CreditLimits::kMin, " or more of at most ", CreditLimits::kMax));
  }
  if (terms.windows > ReceiveTerms::kMaxWindows || terms.reads > ReceiveTerms::kMaxWindows) {
    return absl::InvalidArgumentError(
        absl::StrCat("the RDMA peer has ", terms.windows, " windows and ", terms.reads,
                     " reads, not at most ", ReceiveTerms::kMaxWindows));
  }
  return absl::OkStatus();
}

// Behind everything else, and only where there is something to say.
std::string WithReferences(std::string out, const ReceiveTerms& terms) {
  if (terms.windows == 0 && terms.reads == 0) return out;
  out.append({static_cast<char>(terms.windows), static_cast<char>(terms.reads), 0, 0});
  out[5] = static_cast<char>(out.size());
  return out;
}

void GetReferences(absl::string_view rest, ReceiveTerms& terms) {
  if (rest.size() < 4) return;
  terms.windows = static_cast<uint8_t>(rest[0]);
  terms.reads = static_cast<uint8_t>(rest[1]);
}

void PutTerms(const ReceiveTerms& terms, char* out) {
  Check(CheckTerms(terms).ok(), "the peer gets terms that it accepts");
  PutBigEndian<uint32_t>(terms.block_bytes, out);
  PutBigEndian<uint16_t>(terms.initial_receives, out + 4);
  PutBigEndian<uint16_t>(terms.receive_slots, out + 6);
}

ReceiveTerms GetTerms(const char* in) {
  return {.block_bytes = GetBigEndian<uint32_t>(in),
          .initial_receives = GetBigEndian<uint16_t>(in + 4),
          .receive_slots = GetBigEndian<uint16_t>(in + 6)};
}

std::string Printable(absl::string_view text) {
  std::string printable(text.substr(0, RejectData::kMaxText));
  for (char& c : printable) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return printable;
}

}  // namespace

std::string EncodeConnectData(const ConnectData& data) {
  std::string out(ConnectData::kBytes, '\0');
  PutCommon(kConnectMagic, out.size(), out.data());
  std::memcpy(out.data() + 8, data.token.data(), data.token.size());
  PutBigEndian<uint32_t>(data.generation, out.data() + 24);
  PutTerms(data.receives, out.data() + 28);
  return WithReferences(std::move(out), data.receives);
}

std::string EncodeAcceptData(const AcceptData& data) {
  std::string out(AcceptData::kBytes, '\0');
  PutCommon(kAcceptMagic, out.size(), out.data());
  PutBigEndian<uint32_t>(data.generation, out.data() + 8);
  PutTerms(data.receives, out.data() + 12);
  out = WithReferences(std::move(out), data.receives);
  if (data.answer == decltype(data.answer){}) return out;
  out.resize(AcceptData::kWithReferences);
  out.append(reinterpret_cast<const char*>(data.answer.data()), data.answer.size());
  out[5] = static_cast<char>(out.size());
  return out;
}

std::string EncodeRejectData(const RejectData& data) {
  const std::string text = Printable(data.text);
  std::string out(RejectData::kHeaderBytes, '\0');
  PutCommon(kRejectMagic, out.size() + text.size(), out.data());
  out[6] = static_cast<char>(data.why);
  return out + text;
}

absl::StatusOr<ConnectData> DecodeConnectData(absl::string_view bytes) {
  const auto known = CheckCommon(bytes, kConnectMagic, ConnectData::kBytes);
  if (!known.ok()) return known.status();
  ConnectData data;
  std::memcpy(data.token.data(), known->data() + 8, data.token.size());
  data.generation = GetBigEndian<uint32_t>(known->data() + 24);
  data.receives = GetTerms(known->data() + 28);
  GetReferences(known->substr(ConnectData::kBytes), data.receives);
  const absl::Status status = CheckTerms(data.receives);
  if (!status.ok()) return status;
  return data;
}

absl::StatusOr<AcceptData> DecodeAcceptData(absl::string_view bytes) {
  const auto known = CheckCommon(bytes, kAcceptMagic, AcceptData::kBytes);
  if (!known.ok()) return known.status();
  AcceptData data{.generation = GetBigEndian<uint32_t>(known->data() + 8),
                  .receives = GetTerms(known->data() + 12)};
  GetReferences(known->substr(AcceptData::kBytes), data.receives);
  if (known->size() >= AcceptData::kMaxBytes) {
    std::memcpy(data.answer.data(), known->data() + AcceptData::kWithReferences,
                data.answer.size());
  }
  const absl::Status status = CheckTerms(data.receives);
  if (!status.ok()) return status;
  return data;
}

absl::StatusOr<RejectData> DecodeRejectData(absl::string_view bytes) {
  const auto known = CheckCommon(bytes, kRejectMagic, RejectData::kHeaderBytes);
  if (!known.ok()) return known.status();
  const auto why = static_cast<uint8_t>((*known)[6]);
  // That RDMA is in use is no reason to reject.
  const bool known_reason = why > 0 && why < kWhyNotRdmaCount;
  return RejectData{.why = known_reason ? static_cast<WhyNotRdma>(why) : WhyNotRdma::kRejected,
                    .text = Printable(known->substr(RejectData::kHeaderBytes))};
}

}  // namespace farcall
