#include "http/connection.h"

#include <array>
#include <utility>

namespace mindgate::http {

void EvictionOrder::Count(Stage stage, int change) {
  if (stage == Stage::kHandshake) handshakes_ += static_cast<size_t>(change);
}

void EvictionOrder::Add(uint64_t id, const PeerAddress& address, Clock::Instant now) {
  const auto peer = peers_.try_emplace(address).first;
  ++peer->second.connections;
  Line& line = peer->second.Of(Stage::kSilent);
  members_.emplace(id, Member{peer, Stage::kSilent, line.insert(line.end(), {id, now})});
}

void EvictionOrder::Set(uint64_t id, Stage stage, Clock::Instant now) {
  Member& member = members_.find(id)->second;
  if (member.stage == stage) return;
  Count(member.stage, -1);
  Count(stage, 1);
  Line& from = member.peer->second.Of(member.stage);
  Line& to = member.peer->second.Of(stage);
  to.splice(to.end(), from, member.place);  // allocates nothing
  member.place->since = now;
  member.stage = stage;
}

void EvictionOrder::Remove(uint64_t id) {
  const auto found = members_.find(id);
  const Member member = found->second;
  Count(member.stage, -1);
  member.peer->second.Of(member.stage).erase(member.place);
  members_.erase(found);
  if (--member.peer->second.connections == 0) peers_.erase(member.peer);
}

std::optional<uint64_t> EvictionOrder::First(Stage stage, Clock::Instant before) const {
  const Peer* largest = nullptr;
  for (const auto& [address, peer] : peers_) {
    const Line& line = peer.Of(stage);
    if (line.empty() || line.front().since > before) continue;
    if (largest == nullptr || peer.connections > largest->connections) largest = &peer;
  }
  if (largest == nullptr) return std::nullopt;
  return largest->Of(stage).front().id;
}

std::optional<uint64_t> EvictionOrder::NextHandshake() const {
  const Line* longest = nullptr;
  for (const auto& [address, peer] : peers_) {
    const Line& line = peer.Of(Stage::kHandshake);
    if (line.empty()) continue;
    if (longest == nullptr || line.size() > longest->size() ||
        (line.size() == longest->size() && line.front().since < longest->front().since)) {
      longest = &line;
    }
  }
  if (longest == nullptr) return std::nullopt;
  return longest->front().id;
}

std::optional<uint64_t> EvictionOrder::Next(Clock::Instant now) const {
  const struct {
    Stage stage;
    Clock::Instant before;
  } order[] = {{Stage::kLingering, now},
               {Stage::kSilent, now - kSilentGrace},
               {Stage::kHandshake, now - kGrace},
               {Stage::kHandshaken, now - kGrace},
               {Stage::kReading, now - kGrace},
               {Stage::kIdle, now},
               {Stage::kSilent, now},
               {Stage::kHandshaken, now},
               {Stage::kHandshake, now}};
  for (const auto& [stage, before] : order) {
    if (const auto id = First(stage, before)) return id;
  }
  return std::nullopt;
}

namespace {

// What one read takes: a whole TLS record.
constexpr size_t kReadBytes = 16 * 1024;

// Reads before others have their turn.
constexpr int kSteps = 16;

// An answer without a patch, and most patches.
constexpr size_t kSmallAnswer = 16 * 1024;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Gives the memory back, which an assignment of "" would keep.
void Free(std::string& text) { std::string().swap(text); }

}  // namespace

Connection::Connection(std::unique_ptr<Transport> transport, const ConnectionSettings& settings,
                       ByteBudget& budget, LayerStats& stats, Instant now)
    : transport_(std::move(transport)),
      settings_(settings),
      budget_(budget),
      stats_(stats),
      since_(now),
      deadline_(now + settings.handshake_time),
      framer_(settings.port, settings.framing) {
  ++stats_.connections[static_cast<size_t>(phase_)];
}

Connection::~Connection() {
  budget_.Resize(charged_, 0);
  budget_.ResizeAnswer(charged_answer_, 0);
  --stats_.connections[static_cast<size_t>(phase_)];
}

void Connection::SetPhase(Phase phase, Instant now) {
  if (phase == phase_) return;
  // The new count first, so that the sum over all phases never misses a connection that is open.
  ++stats_.connections[static_cast<size_t>(phase)];
  --stats_.connections[static_cast<size_t>(phase_)];
  phase_ = phase;
  since_ = now;
}

Stage Connection::stage() const {
  switch (phase_) {
    case Phase::kHandshake:
      return transport_->heard() ? Stage::kHandshake : Stage::kSilent;
    case Phase::kIdle:
      if (sequence_ > 0) return Stage::kIdle;
      return transport_->heard() ? Stage::kHandshaken : Stage::kSilent;
    case Phase::kReading:
      return Stage::kReading;
    case Phase::kLingering:
      return Stage::kLingering;
    default:
      return Stage::kBusy;
  }
}

bool Connection::Charge() {
  // Small strings keep 15 bytes inside the object; they cost nothing extra and are counted all the
  // same.
  const size_t wanted = framer_.held() + leftover_.capacity();
  if (!budget_.Resize(charged_, wanted)) return false;
  charged_ = wanted;
  return true;
}

bool Connection::ChargeAnswer() {
  const size_t wanted = out_.capacity();
  if (!budget_.ResizeAnswer(charged_answer_, wanted)) return false;
  charged_answer_ = wanted;
  return true;
}

Connection::Next Connection::Drive(Instant now) {
  for (int step = 0; step < kSteps; ++step) {
    Next next = Next::kWait;
    switch (phase_) {
      case Phase::kHandshake:
        next = StepHandshake(now);
        break;
      case Phase::kIdle:
      case Phase::kReading:
        next = StepRead(now);
        break;
      case Phase::kExecuting:
        break;
      case Phase::kWriting:
        next = StepWrite(now);
        break;
      case Phase::kLingering:
        next = StepLinger(now);
        break;
    }
    if (next != Next::kAgain) return next;
  }
  return Next::kAgain;
}

Connection::Next Connection::StepHandshake(Instant now) {
  switch (transport_->Handshake()) {
    case IoStatus::kDone:
      BecomeIdle(now);
      return Next::kAgain;
    case IoStatus::kWait:
      return Next::kWait;
    default:
      stats_.Add(Drop::kHandshakeFailed);
      return Next::kClose;
  }
}

// Reads until the transport has nothing more, its own buffers included: a connection is never
// parked on a request that arrived in the same TLS record as the one before.
Connection::Next Connection::StepRead(Instant now) {
  if (!out_.empty() && Flush() == Next::kClose) return Next::kClose;
  if (!leftover_.empty()) return OnBytes(std::exchange(leftover_, {}), now);
  std::array<char, kReadBytes> buffer;
  const IoResult read = transport_->Read(buffer.data(), buffer.size());
  if (read.status == IoStatus::kWait) return Next::kWait;
  if (read.status != IoStatus::kDone) return Next::kClose;
  return OnBytes({buffer.data(), read.bytes}, now);
}

Connection::Next Connection::OnBytes(std::string_view bytes, Instant now) {
  if (phase_ == Phase::kIdle) {
    SetPhase(Phase::kReading, now);
    deadline_ = now + settings_.request_time;
    continue_sent_ = false;
  }
  bytes.remove_prefix(framer_.Consume(bytes));
  switch (framer_.state()) {
    case Framer::State::kRefused:
      return Refuse(framer_.refusal(), now);
    case Framer::State::kComplete:
      leftover_ = bytes;
      if (!Charge()) return Refuse(Refusal::kNoMemory, now);
      SetPhase(Phase::kExecuting, now);
      ++sequence_;
      return Next::kDispatch;
    default:
      break;
  }
  if (!Charge()) return Refuse(Refusal::kNoMemory, now);
  if (framer_.awaits_continue() && !continue_sent_) {
    continue_sent_ = true;
    out_ += kContinue;
  }
  return Next::kAgain;
}

Connection::Taken Connection::TakeRequest() {
  const size_t bytes = framer_.held();
  charged_ -= bytes;
  Taken taken{framer_.Take(), ByteLease(budget_, bytes)};
  head_only_ = taken.request.method == Method::kHead;
  close_wanted_ = taken.request.close;
  return taken;
}

Connection::Next Connection::OnAnswer(uint64_t sequence, Response response, Instant now) {
  if (phase_ != Phase::kExecuting || sequence != sequence_) return Next::kWait;
  response.close = response.close || close_wanted_;
  Send(response, head_only_, now);
  return Drive(now);
}

void Connection::DropRequest() {
  Framer fresh(settings_.port, settings_.framing);
  std::swap(framer_, fresh);
  Free(leftover_);
}

Connection::Next Connection::Refuse(Refusal refusal, Instant now) {
  stats_.Add(refusal);
  DropRequest();
  Response response = RefusalResponse(refusal);
  response.close = true;
  Send(response, /*head_only=*/false, now);
  return Next::kAgain;
}

void Connection::Send(const Response& response, bool head_only, Instant now) {
  AppendResponse(response, head_only, out_);
  close_after_write_ = response.close;
  SetPhase(Phase::kWriting, now);
  // A small answer is not worth failing for; large ones that nobody reads would fill the memory.
  Charge();
  if (ChargeAnswer() || out_.size() <= kSmallAnswer) return;
  stats_.Add(Refusal::kNoMemory);
  Free(out_);
  Response refusal = RefusalResponse(Refusal::kNoMemory);
  refusal.close = response.close;
  AppendResponse(refusal, head_only, out_);
  ChargeAnswer();
}

Connection::Next Connection::Flush() {
  size_t written = 0;
  Next next = Next::kAgain;
  while (written < out_.size()) {
    const IoResult write = transport_->Write(std::string_view(out_).substr(written));
    if (write.status != IoStatus::kDone) {
      next = write.status == IoStatus::kWait ? Next::kWait : Next::kClose;
      break;
    }
    written += write.bytes;
  }
  out_.erase(0, written);
  return next;
}

Connection::Next Connection::StepWrite(Instant now) {
  const Next next = Flush();
  if (next != Next::kAgain) return next;
  if (close_after_write_) {
    Linger(now);
  } else {
    BecomeIdle(now);
  }
  return Next::kAgain;
}

// Between requests nothing is held but the connection itself and what came early.
void Connection::BecomeIdle(Instant now) {
  Free(out_);
  SetPhase(Phase::kIdle, now);
  deadline_ = now + settings_.idle_time;
  Charge();
  ChargeAnswer();
}

void Connection::Linger(Instant now) {
  DropRequest();
  Free(out_);
  transport_->EndWriting();
  SetPhase(Phase::kLingering, now);
  deadline_ = now + settings_.linger_time;
  Charge();
  ChargeAnswer();
}

Connection::Next Connection::StepLinger(Instant) {
  std::array<char, kReadBytes> buffer;
  const IoResult read = transport_->Discard(buffer.data(), buffer.size());
  if (read.status == IoStatus::kWait) return Next::kWait;
  discarded_ += read.bytes;
  const bool enough = discarded_ > settings_.linger_bytes;
  return read.status == IoStatus::kDone && !enough ? Next::kAgain : Next::kClose;
}

Connection::Next Connection::OnDeadline(Instant now) {
  switch (phase_) {
    case Phase::kHandshake:
      stats_.Add(Drop::kHandshakeTimeout);
      return Next::kClose;
    case Phase::kIdle: {
      const Next next = CloseIdle(now);
      if (phase_ == Phase::kLingering) stats_.Add(Drop::kIdleTimeout);
      return next;
    }
    case Phase::kReading:
      Refuse(Refusal::kTimeout, now);
      return Drive(now);
    case Phase::kExecuting:
      Refuse(Refusal::kTooLate, now);
      return Drive(now);
    case Phase::kWriting:
      stats_.Add(Drop::kWriteTimeout);
      return Next::kClose;
    case Phase::kLingering:
      return Next::kClose;
  }
  return Next::kClose;
}

Connection::Next Connection::CloseIdle(Instant now) {
  if (phase_ != Phase::kIdle) return Next::kWait;
  // A request may be on its way at this moment: whatever has arrived is served, not dropped, even
  // before it has been reported.
  transport_->OnReady(/*ended=*/false);
  const Next next = Drive(now);
  if (phase_ != Phase::kIdle || next != Next::kWait) return next;
  Linger(now);
  return Drive(now);
}

}  // namespace mindgate::http
