#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "kube/wait.h"

namespace mindgate::deploy {

// Keeps other runs away from an application while one changes it: a Lease in its namespace,
// "mindgate-deploy-chat", whose holder renews it in pauses and before writes. A holder that was
// killed does not renew, and its Lease counts for nothing after `kHoldTime` by our wall clock: the
// clocks of two machines may differ by kHoldTime - kRenewTime. One thread.
class Hold {
 public:
  inline static constexpr std::chrono::seconds kHoldTime{60};
  inline static constexpr std::chrono::seconds kRenewTime{10};

  // `identity` says who holds, for people: "alice@build-7/4711". All others must outlive this.
  Hold(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, std::string ns,
       const std::string& app, std::string identity);
  ~Hold() { Release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  struct Taken {
    enum class How {
      kHeld,         // by us
      kByAnother,    // `who` and `since` say by whom
      kUnprotected,  // Leases may not be written, or are not served: `why`
      kFailed,       // `why`
      kStopped,
    } how = How::kHeld;
    std::string who = {};
    std::string since = {};
    std::string why = {};
  };
  // Waits at most `limit` for another holder; `waits` is called once when it does.
  Taken Take(std::chrono::seconds limit, const std::function<void(const Taken& other)>& waits,
             const std::stop_token& stop);

  // Renews the Lease when that is due. Why nothing more may be written; empty: all is fine. Without
  // a Lease, which nobody may write, all is fine.
  std::string Keep();
  // Deletes the Lease if it is still ours.
  void Release();

  std::string name() const { return name_; }
  const std::string& identity() const { return identity_; }

 private:
  Taken TakeOnce(const std::stop_token& stop);
  kube::Json Spec() const;
  void Remember(kube::Json lease);

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const std::string ns_;
  const std::string name_;
  const std::string identity_;
  kube::Json lease_;  // as we wrote it; null: it is not ours
  Clock::Instant renewed_{};
  std::string acquired_;
  std::string lost_;  // why it is no longer ours
};

}  // namespace mindgate::deploy
