#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "http/byte_budget.h"
#include "http/eviction_order.h"
#include "http/framing.h"
#include "http/layer_stats.h"
#include "http/response.h"
#include "http/transport.h"

namespace mindgate::http {

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
  // After kDispatch. `sequence` tells this request from later ones of the same connection.
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
  Standing standing() const;

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
  void Park(Instant now);
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
