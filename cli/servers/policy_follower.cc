#include "cli/servers/policy_follower.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <string>
#include <utility>

#include "base/threads.h"
#include "cli/console/session.h"
#include "kube/reflector.h"
#include "offline/evaluate.h"

namespace mindgate::cli {
namespace {

// An API server that is well answers within some milliseconds; programs start without the others.
constexpr std::chrono::seconds kFirstAnswer(2);

}  // namespace

// Follows them until it ends.
class PolicyFollower::Watch {
 public:
  Watch(const kube::Access& access, const Clock& clock, log::Logger& logger, int changes)
      : logger_(logger),
        changes_(changes),
        connection_(access, {}, LogWarnings(logger)),
        // Replicas must not come back in step.
        reflector_(connection_.client(), connection_.sleeper(), clock,
                   offline::PolicyConfigMapsIn(connection_.ns()), MakeHandler(),
                   std::random_device()()),
        thread_(StartThread("policies", [this] { reflector_.Run(stop_.get_token()); })) {}
  ~Watch() { stop_.request_stop(); }

  Result<admission::PolicyTexts> Texts() {
    MutexLock lock(mutex_);
    answered_.WaitFor(lock, kFirstAnswer,
                      [this]() REQUIRES(mutex_) { return listed_ || !fault_.empty(); });
    if (listed_) return known_.Texts();
    return Fail(ErrorCode::kNotFound, fault_.empty()
                                          ? "policies.configMaps is true, and the ConfigMaps of "
                                            "namespace " +
                                                connection_.ns() + " have not been listed yet"
                                          : fault_);
  }

 private:
  kube::Reflector::Handler MakeHandler() {
    return {
        .list_started = [this] { coming_ = {}; },
        .listed = [this](const json::Value& object) { coming_.Put(object); },
        .left_out = [this](const json::Value& object,
                           const kube::Fault&) { coming_.PutTooLarge(object); },
        .list_done =
            [this] {
              const MutexLock lock(mutex_);
              known_ = std::exchange(coming_, {});
              listed_ = true;
              fault_.clear();
              Wake();
            },
        .happened = [this](const kube::WatchEvent& event) { Happened(event); },
        .failed = [this](const kube::Fault& fault, std::chrono::milliseconds) { Failed(fault); },
        .wants_list =
            [this] {
              const MutexLock lock(mutex_);
              return known_.is_crowded();
            }};
  }

  void Happened(const kube::WatchEvent& event) {
    const MutexLock lock(mutex_);
    fault_.clear();
    if (event.type == kube::WatchEvent::Type::kDeleted) {
      known_.Remove(event.object);
    } else {
      known_.Put(event.object);
    }
    Wake();
  }

  void Failed(const kube::Fault& fault) {
    const std::string text = offline::PolicyConfigMapsFault(connection_.ns(), fault);
    const MutexLock lock(mutex_);
    if (fault_ == text) return;  // one line a fault, however long it lasts
    fault_ = text;
    if (listed_) {
      logger_.Warning("ConfigMaps with policies cannot be watched now: those known stay in use",
                      {{"reason", kube::ReasonName(fault.reason)}, {"fault", fault.message}});
    } else {
      Wake();
    }
  }

  // Somebody asks for the texts soon.
  void Wake() REQUIRES(mutex_) {
    answered_.NotifyAll();
    const uint64_t one = 1;
    // Without a descriptor to write to, changes are seen when the files are polled.
    if (::write(changes_, &one, sizeof one) < 0) return;
  }

  log::Logger& logger_;
  const int changes_;
  Connection connection_;
  Mutex mutex_;
  ConditionVariable answered_;
  offline::PolicyConfigMapSet known_ GUARDED_BY(mutex_);
  bool listed_ GUARDED_BY(mutex_) = false;
  std::string fault_ GUARDED_BY(mutex_);  // since the newest list or event
  offline::PolicyConfigMapSet coming_;    // of the list under way; in the thread
  std::stop_source stop_;
  kube::Reflector reflector_;
  std::jthread thread_;  // last: it ends before what it uses
};

PolicyFollower::PolicyFollower(kube::AccessFlags flags, const Clock& clock, log::Logger& logger)
    : flags_(std::move(flags)),
      clock_(clock),
      logger_(logger),
      changes_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
PolicyFollower::~PolicyFollower() = default;

Result<admission::PolicyTexts> PolicyFollower::Texts() {
  if (watch_ == nullptr) {
    const auto access = kube::FindAccess(flags_, clock_);
    if (!access) {
      return Fail(ErrorCode::kNotFound,
                  "policies.configMaps is true, and there is no API server to read ConfigMaps "
                  "from: " +
                      access.error().message);
    }
    watch_ = std::make_unique<Watch>(*access, clock_, logger_, changes_.get());
  }
  return watch_->Texts();
}

void PolicyFollower::Stop() { watch_.reset(); }

}  // namespace mindgate::cli
