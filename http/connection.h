#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/time.h"
#include "http/request.h"
#include "http/response.h"
#include "http/transport.h"

namespace mindgate::http {

// Bytes of requests and answers that all connections may hold together. Safe from many threads.
class ByteBudget {
 public:
  explicit ByteBudget(size_t total) : total_(total) {}

  // A holder of more than this may not use the last quarter, so that a few senders of huge bodies
  // cannot keep reviews of ordinary size (10 KB typically, 60 KB at most in the field) out.
  static constexpr size_t kLarge = 256 * 1024;

  // Changes a holder's share from `held` to `wanted` bytes. Shrinking always succeeds; a refused
  // growth changes nothing.
  bool Resize(size_t held, size_t wanted) {
    if (wanted <= held) {
      used_ -= held - wanted;
      return true;
    }
    return Add(used_, wanted - held, wanted > kLarge ? total_ - total_ / 4 : total_);
  }

  // The same for an answer, which stays for as long as its reader pleases: all answers together get
  // a quarter, so that those who do not read keep nobody else out.
  bool ResizeAnswer(size_t held, size_t wanted) {
    if (wanted > held && !Add(answers_, wanted - held, total_ / 4)) return false;
    if (!Resize(held, wanted)) {
      answers_ -= wanted - held;
      return false;
    }
    if (wanted < held) answers_ -= held - wanted;
    return true;
  }

  size_t used() const { return used_; }

 private:
  static bool Add(std::atomic<size_t>& used, size_t more, size_t limit) {
    if (used.fetch_add(more) + more <= limit) return true;
    used -= more;
    return false;
  }

  const size_t total_;
  std::atomic<size_t> used_{0};
  std::atomic<size_t> answers_{0};  // of these
};

// Bytes that were charged to a budget and go back to it with the lease. Moves; must not outlive the
// budget.
class ByteLease {
 public:
  ByteLease() = default;
  ByteLease(ByteBudget& budget, size_t bytes) : budget_(&budget), bytes_(bytes) {}
  ByteLease(ByteLease&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
  ByteLease& operator=(ByteLease&&) = delete;
  ~ByteLease() {
    if (budget_ != nullptr) budget_->Resize(bytes_, 0);
  }

 private:
  ByteBudget* budget_ = nullptr;
  size_t bytes_ = 0;
};

// What a connection is worth when there is no room for one more.
enum class Stage {
  kLingering,   // its last answer is written
  kSilent,      // not one whole message has come: no ClientHello, without TLS not one byte
  kHandshake,   // begun and not finished
  kHandshaken,  // its handshake is over, its first request has not begun
  kReading,     // a request is half read
  kIdle,        // between two requests
  kBusy,        // its request is being answered
};
inline constexpr size_t kStageCount = 7;

// Which connection is closed to make room: one that lingers, else one that has been silent for
// longer than kSilentGrace, else one that has been in its handshake, without a request after it, or
// half read for longer than kGrace, else an idle one, and only then a younger one before its first
// request. Of these it is one of the address that has the most connections, and there the one that
// has stood so the longest. A client sends at once when it has connected, so whoever is silent or
// stalls for long wants no answer, and an honest newcomer is served before its turn comes. There is
// no cap for an address: all API servers may come from one. For one thread.
class EvictionOrder {
 public:
  // Handshake and first request of an honest client take milliseconds.
  static constexpr std::chrono::seconds kGrace{2};
  // A ClientHello follows the packet that completes the connection.
  static constexpr std::chrono::milliseconds kSilentGrace{100};

  void Add(uint64_t id, const PeerAddress& address, Clock::Instant now);  // kSilent
  // `now` never goes back.
  void Set(uint64_t id, Stage stage, Clock::Instant now);
  void Remove(uint64_t id);
  Stage StageOf(uint64_t id) const { return members_.find(id)->second.stage; }

  // Nothing when all have a request under way.
  std::optional<uint64_t> Next(Clock::Instant now) const;
  // The oldest handshake of the address with the most handshakes, however many other connections
  // it or others have; of equals the oldest. Nothing when there is none.
  std::optional<uint64_t> NextHandshake() const;
  size_t handshakes() const { return handshakes_; }

 private:
  struct Place {
    uint64_t id;
    Clock::Instant since;
  };
  using Line = std::list<Place>;  // the longest first
  struct Peer {
    size_t connections = 0;
    std::array<Line, kStageCount> lines;
    Line& Of(Stage stage) { return lines[static_cast<size_t>(stage)]; }
    const Line& Of(Stage stage) const { return lines[static_cast<size_t>(stage)]; }
  };
  using Peers = std::map<PeerAddress, Peer>;
  struct Member {
    Peers::iterator peer;
    Stage stage;
    Line::iterator place;
  };

  void Count(Stage stage, int change);
  // The first that has stood so since `before` or longer, of the largest address that has one.
  std::optional<uint64_t> First(Stage stage, Clock::Instant before) const;

  std::unordered_map<uint64_t, Member> members_;
  Peers peers_;
  size_t handshakes_ = 0;
};

struct ConnectionSettings {
  Port port = Port::kPosts;
  FramingLimits framing;
  // Go's own limit for a handshake.
  std::chrono::milliseconds handshake_time{10'000};
  // From the first byte of a request to the last byte of its answer. kube-apiserver asks with 1 to
  // 30 s and sends a request in one go; who is slower than this is stuck or hostile.
  std::chrono::milliseconds request_time{10'000};
  // Longer than the 90 s after which Go's client drops an idle connection itself: a POST that meets
  // our close is a failed admission, which the API server does not repeat.
  std::chrono::milliseconds idle_time{120'000};
  // For the peer to read the last answer before the socket goes; closing with unread input would
  // reset it.
  std::chrono::milliseconds linger_time{2'000};
  // Most bytes dropped while lingering: a body that was refused, and some.
  size_t linger_bytes = 16 * 1024 * 1024;
};

// One connection's state machine: handshake, requests one at a time, answers, a lingering end.
// Knows no epoll and no threads: its owner, always the same thread, calls Drive when the socket may
// be ready and follows what it returns.
class Connection {
 public:
  using Instant = Clock::Instant;

  enum class Next {
    kWait,      // until the socket is ready, an answer comes, or the deadline passes
    kAgain,     // there may be more to do; others first
    kDispatch,  // TakeRequest, have it answered, call OnAnswer
    kClose,     // destroy
  };

  // `settings`, `budget` and `stats` outlive the connection.
  Connection(std::unique_ptr<Transport> transport, const ConnectionSettings& settings,
             ByteBudget& budget, LayerStats& stats, Instant now);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The socket has become ready; Drive follows. `ended`: the peer has ended its side, or the
  // connection has failed.
  void OnReady(bool ended) { transport_->OnReady(ended); }

  Next Drive(Instant now);

  struct Taken {
    Request request;
    // What the request holds stays charged while anyone holds this, even when the connection has
    // gone: a peer that sends and resets must not be able to fill the queue with more than the
    // budget.
    ByteLease bytes;
  };
  // After kDispatch. `sequence` distinguishes this request from later ones of the same connection.
  Taken TakeRequest();
  uint64_t sequence() const { return sequence_; }

  // An answer to an earlier request than the last dispatched, or one that comes after its deadline,
  // is dropped.
  Next OnAnswer(uint64_t sequence, Response response, Instant now);

  // To be called when deadline() has passed.
  Next OnDeadline(Instant now);

  // Ends the connection if it is between requests and nothing has arrived; else kWait, or what is
  // to be done about what arrived.
  Next CloseIdle(Instant now);

  Instant deadline() const { return deadline_; }
  Phase phase() const { return phase_; }
  Instant since() const { return since_; }  // when this phase began
  Stage stage() const;

 private:
  // Steps give kAgain to go on at once.
  Next StepHandshake(Instant now);
  Next StepRead(Instant now);
  Next StepWrite(Instant now);
  Next StepLinger(Instant now);
  Next OnBytes(std::string_view bytes, Instant now);
  Next Flush();
  // What was received of the request under way and after it, with its memory.
  void DropRequest();
  Next Refuse(Refusal refusal, Instant now);
  void Send(const Response& response, bool head_only, Instant now);
  void Linger(Instant now);
  void BecomeIdle(Instant now);
  void SetPhase(Phase phase, Instant now);
  bool Charge();
  bool ChargeAnswer();

  const std::unique_ptr<Transport> transport_;
  const ConnectionSettings& settings_;
  ByteBudget& budget_;
  LayerStats& stats_;

  Phase phase_ = Phase::kHandshake;
  Instant since_;
  Instant deadline_;
  Framer framer_;
  std::string leftover_;  // received after the end of a request
  std::string out_;       // not yet written
  bool close_after_write_ = false;
  bool continue_sent_ = false;
  // Of the last request that was taken.
  bool head_only_ = false;
  bool close_wanted_ = false;
  uint64_t sequence_ = 0;
  size_t charged_ = 0;         // for what was received
  size_t charged_answer_ = 0;  // for out_
  size_t discarded_ = 0;
};

}  // namespace mindgate::http
