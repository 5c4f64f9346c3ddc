#include "watcher/frame/leadership.h"

#include <utility>

#include "base/threads.h"

namespace mindgate::watcher {

Leadership::Leadership(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                       log::Logger& logger, Options options, uint64_t seed)
    : options_(std::move(options)), clock_(clock), logger_(logger) {
  if (!options_.elect) return;
  kube::Elector::Options election;
  election.ns = options_.ns;
  election.name = options_.lease;
  election.identity = options_.identity;
  election.failed = [&logger](const kube::Fault& fault) {
    logger.Warning("cannot renew the Lease",
                   {{"reason", kube::ReasonName(fault.reason)}, {"fault", fault.message}});
  };
  elector_ = std::make_unique<kube::Elector>(client, sleeper, clock, election, seed);
}

Leadership::~Leadership() {
  Resign();
  stop_.request_stop();
}

void Leadership::Start(std::function<void()> on_change) {
  if (elector_ == nullptr) {
    Changed(true);
    return;
  }
  {
    const MutexLock lock(calling_);
    on_change_ = std::move(on_change);
  }
  thread_ = StartThread("election", [this] {
    elector_->Run(stop_.get_token(), [this](bool leads) { Report(leads); });
  });
}

void Leadership::Report(bool leads) {
  Changed(leads);
  const MutexLock lock(calling_);
  if (on_change_ == nullptr) return;  // resigned
  logger_.Info(leads ? "leading" : "standing by",
               {{"lease", std::string_view(options_.lease)},
                {"identity", std::string_view(options_.identity)}});
  on_change_();
}

void Leadership::Changed(bool leads) {
  std::stop_source ended;
  {
    const MutexLock lock(mutex_);
    ended = std::exchange(ended_, {});
    since_.reset();
    if (leads && !resigned_) {
      // A term may be shorter than a second, and what belongs to one is known by when it began.
      const Time now = clock_.WallNow();
      began_ = now == began_ ? now + std::chrono::seconds(1) : now;
      since_ = began_;
    }
  }
  ended.request_stop();
}

void Leadership::Resign() {
  {
    const MutexLock lock(mutex_);
    resigned_ = true;
  }
  Changed(false);
  const MutexLock lock(calling_);
  on_change_ = nullptr;
}

std::optional<Term> Leadership::term() const {
  const MutexLock lock(mutex_);
  if (!since_ || !Holds()) return std::nullopt;
  return Term(*since_, [this] { return Holds(); }, ended_.get_token());
}

}  // namespace mindgate::watcher
