# SPDX-License-Identifier: Apache-2.0
"""Mutants of the switching stream: each has one rule changed, and a simulation must see it."""

load("//tools/mutants:mutants.bzl", "mutants")

# Name, source, and what is replaced in it by what. Each text must be there exactly once.
_MUTANTS = [
    ("delivers_duplicates", "receive_side.cc", {
        "bytes.RemoveFront(known);": "",
    }),
    ("resends_off_by_one", "send_side.cc", {
        "flight_ = Buffer();": "flight_ = queue_.empty() ? Buffer() : queue_.CutFront(1);",
    }),
    ("does_not_send_again", "switching_stream.cc", {
        "send_.Rewind();": "",
    }),
    ("sends_again_what_is_acknowledged", "send_side.cc", {
        "queue_.RemoveFront(fresh - from_flight);": "",
    }),
    ("sends_again_what_resume_has", "stream_input.cc", {
        "send_.Raise(frame.offset);": "return;",
    }),
    ("leaves_lower_generations_alive", "generations.cc", {
        "return live_.empty() || live_.front().number > number ? 0 : live_.front().number;":
            "return Find(number) == nullptr ? 0 : number;",
        "while (!live_.empty() && live_.front().number <= dead_) live_.erase(live_.begin());":
            "for (size_t i = live_.size(); i > 0; --i) {" +
            "  if (live_[i - 1].number == number) live_.erase(live_.begin() + int(i) - 1);" +
            "}",
    }),
    ("drops_early_data", "stream_input.cc", {
        "return KeepEarly(frame);": "return;",
    }),
    ("forgets_early_data", "stream_input.cc", {
        "if (due.bytes.empty()) return;": "return;",
    }),
    ("hands_out_early_data_at_once", "early_bytes.cc", {
        "|| runs_.begin()->first > offset) return {};": ") return {};",
    }),
    ("ignores_what_pong_acknowledges", "stream_input.cc", {
        "  ApplyAcknowledged(frame.acknowledged, now);":
            "  if (frame.type != LinkFrameType::kPong) ApplyAcknowledged(frame.acknowledged, now);",
    }),
    ("resumes_twice", "switching_stream.cc", {
        "if (!active()) return;\n  Leave(generation);":
            "Send(kLifeline, {.type = LinkFrameType::kResume, .number = generation});" +
            "Leave(generation);",
    }),
    ("does_not_resume", "stream_input.cc", {
        "if (generations_.Find(generation) != nullptr) {":
            "if (generations_.Find(generation) != nullptr) {" +
            "  output_.GiveUp(generation, absl::UnavailableError(\"\"));" +
            "  generations_.Kill(generation);" +
            "  Leave(generation);" +
            "}" +
            "if (generations_.Find(generation) != nullptr) {",
    }),
    ("sends_on_a_dead_generation", "switching_stream.cc", {
        "    sending_on_ = kLifeline;\n": "",
    }),
    ("ends_at_bye_before_its_data", "receive_side.cc", {
        "final_ = offset;": "final_ = received_;",
    }),
    ("omits_the_last_ack", "stream_closing.cc", {
        "  Send(kLifeline, {.type = LinkFrameType::kAck});": "",
    }),
    ("sends_the_last_ack_on_a_generation", "stream_closing.cc", {
        "Send(kLifeline, {.type = LinkFrameType::kAck});":
            "Send(sending_on_, {.type = LinkFrameType::kAck});",
    }),
    ("omits_the_answer_to_bye", "stream_closing.cc", {
        "receive_.complete() && !bye_sent_": "false",
    }),
    ("shuts_before_it_has_all", "stream_closing.cc", {
        "!bye_sent_ || !receive_.complete() || ": "!bye_sent_ || ",
    }),
    ("shuts_before_the_peer_has_all", "stream_closing.cc", {
        " || send_.acknowledged() != send_.end()": "",
    }),
    ("forgets_what_is_alone_in_flight", "send_side.cc", {
        "  flight_.Append(std::move(queue_));\n  return &flight_;":
            "  static thread_local Buffer gone;\n  gone = std::move(queue_);\n  return &gone;",
    }),
    ("ignores_the_window", "send_side.cc", {
        "std::min({queue_.size(), most, room()})": "std::min(queue_.size(), most)",
    }),
    ("never_finds_a_generation_stuck", "lifeline_watch.cc", {
        "return generation != 0 && ": "return generation == 0 && ",
    }),
    ("finds_a_moving_generation_stuck", "progress_watch.cc", {
        "if (lacking_since_ && received <= lacking_at_) return;": "if (lacking_since_) return;",
    }),
    ("never_pings_for_bytes", "lifeline_watch.cc", {
        "if (work.unacknowledged_since) {": "if (false) {",
        "if (work.expects_answer) return":
            "if (work.expects_answer && !work.unacknowledged_since) return",
        "if (!work.still_since) return usual;": "return usual;",
    }),
    ("asks_late_of_a_still_rail", "lifeline_watch.cc", {
        "if (!work.still_since) return usual;": "return usual;",
    }),
    ("never_takes_a_rail_for_suspect", "rails.cc", {
        "if (HasOther(*rail)) return rail.get();": "",
    }),
    ("sends_on_a_suspect_rail", "rails.cc", {
        "if (!rail->suspect()) return rail->number();": "return rail->number();",
        "if (rail->suspect() && rail->number() != home()) continue;": "",
    }),
    ("trusts_a_suspect_rail_for_a_late_byte", "rails.cc", {
        "rate_.Acknowledge(flight_.acknowledged(), stamp, now);":
            "rate_.Acknowledge(flight_.acknowledged(), stamp, now); trusted_at_ = 0;",
    }),
    ("gives_much_to_a_rail_of_which_nothing_is_known", "rails.cc", {
        "if (!MayTake(*choice.rail)) return {};": "",
    }),
    ("measures_over_a_pause", "rate_meter.cc", {
        "if (pieces_.front().last + *offset_ > begin_->arrival) return begin_.reset();": "",
    }),
    ("takes_bytes_for_come_before_they_were_given", "rate_meter.cc", {
        "done = std::max(done, static_cast<double>(pieces_[i].last)) +": "done +=",
    }),
    ("never_finds_the_peer_dead", "stream_output.cc", {
        "if (watch_.PeerDead(now)) {": "if (false) {",
    }),
    ("acknowledges_while_paused", "stream_output.cc", {
        "receive_.Freeze(paused && ": "receive_.Freeze(false && paused && ",
    }),
    ("stands_still_after_close", "stream_closing.cc", {
        "  receive_.Freeze(false, now);\n": "",
    }),
    ("starts_while_one_is_alive", "switching_stream.cc", {
        "!ending() && !generations_.enough() &&": "!ending() &&",
    }),
    ("never_uses_a_generation", "generations.cc", {
        "return newest == live_.rend() ? nullptr : &*newest;": "return nullptr;",
    }),
    ("keeps_early_data_behind_what_is_not_there", "early_bytes.cc", {
        "if (next == runs_.end() || next->first != end) return": "if (next == runs_.end()) return",
    }),
    ("keeps_early_data_twice", "early_bytes.cc", {
        "bytes.RemoveFront(known);": "",
    }),
    ("forgets_what_was_on_a_rail", "switching_stream.cc", {
        "for (const ByteRange& lost : rails_.Remove(generation)) send_.SendAgain(lost);":
            "rails_.Remove(generation);",
    }),
    ("forgets_what_was_on_a_suspect_rail", "stream_rails.cc", {
        "for (const ByteRange& range : suspect->Suspect()) send_.SendAgain(range);":
            "suspect->Suspect();",
    }),
    ("gives_older_rails_up_with_one", "generations.cc", {
        "if (several()) return Find(number) == nullptr ? 0 : number;": "",
    }),
    ("takes_more_for_acknowledged_than_came", "flight_log.cc", {
        "std::min(acknowledged_ - piece.at, piece.range.size())":
            "std::min(acknowledged_ - piece.at + 1, piece.range.size())",
    }),
    ("takes_other_bytes_for_acknowledged", "flight_log.cc", {
        "piece.at += come;": "",
    }),
    ("counts_what_came_by_a_rail_twice", "stream_rails.cc", {
        "generation->received += bytes;": "generation->received += 2 * bytes;",
    }),
    ("never_finds_a_rail_stuck", "rails.cc", {
        "if (rail->progress.Lacks(ProgressTimeout(*rail), now)) return rail.get();": "",
    }),
    ("sends_on_a_dead_rail", "rails.cc", {
        "  rails_.erase(found);\n": "",
    }),
    ("never_uses_a_rail", "switching_stream.cc", {
        "if (several() && fresh) rails_.Add(generation);": "if (fresh) PickLink();",
    }),
    ("sends_again_what_a_resume_has_on_rails", "send_side.cc", {
        "std::max({range.from, acknowledged_, spared_})": "std::max(range.from, acknowledged_)",
    }),
    ("sends_again_a_part_of_what_was_lost", "send_side.cc", {
        "if (range.size() == 0) again_.erase(again_.begin());": "again_.erase(again_.begin());",
    }),
    ("sends_other_bytes_again", "send_side.cc", {
        "shared.RemoveFront(range.from - acknowledged_);": "",
    }),
    ("tells_an_older_peer_of_rails", "stream_input.cc", {
        "if (several()) CountReceived(": "CountReceived(",
        "  if (several()) {\n    for (": "  {\n    for (",
    }),
]

# Where they are that are in a room below the stream.
_ROOMS = {
    "early_bytes.cc": "bytes",
    "flight_log.cc": "rails",
    "generations.cc": "rails",
    "lifeline_watch.cc": "rails",
    "progress_watch.cc": "rails",
    "rails.cc": "rails",
    "rate_meter.cc": "rails",
    "receive_side.cc": "bytes",
    "send_side.cc": "bytes",
}

def stream_mutants():
    """A test for each mutant. It passes if a simulation finds a violation in it."""
    mutants(
        name = "stream_mutants",
        mutants = _MUTANTS,
        packages = {src: "//transport/link/stream/" + room for src, room in _ROOMS.items()},
        deps = [
            ":stream",
            "//transport/link/stream/testing:stream_mutant_main",
        ],
    )
