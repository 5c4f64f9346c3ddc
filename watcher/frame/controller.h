#pragma once

#include <prometheus/metric_family.h>

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace mindgate::watcher {

// One of the watcher's controllers, as the program that runs them sees it. A new one is a folder
// with a class of this kind, a line in watcher/watcher.cc and its permissions in the chart
// (watcher-rbac.yaml). All but Run may be called from any thread.
class Controller {
 public:
  virtual ~Controller() = default;

  virtual std::string_view name() const = 0;  // "scaling"
  // Whether the configuration asks for it now. Run is not called before, so that what is off needs
  // no permissions.
  virtual bool wanted() const = 0;
  // Until `stop`, once.
  virtual void Run(const std::stop_token& stop) = 0;
  // The replica has begun or ceased to lead, or the configuration is another one.
  virtual void EnqueueAll() = 0;
  // Why the replica is not ready because of it; empty: it is.
  virtual std::string unready() const = 0;
  virtual void AddMetrics(std::vector<prometheus::MetricFamily>& families) const = 0;
  // Objects that are too large to be read, at the moment.
  virtual size_t left_out() const { return 0; }
};

}  // namespace mindgate::watcher
