#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "json/json.h"
#include "json/projection.h"
#include "json/value.h"

namespace mindgate::kube {

// When an Event of events.k8s.io/v1 happened the last time, as it is written (RFC 3339); empty: it
// does not say. A series has its own time. Recorders of the old API leave eventTime empty and write
// lastTimestamp, which is deprecatedLastTimestamp in this one (kubernetes:
// pkg/apis/events/v1/conversion.go); an Event that says neither is as old as its object.
std::string LastTimeOf(const json::Value& event);
std::string LastTimeOf(const json::Json& event);

// What it reads.
std::vector<json::Projection::Path> LastTimeFields();

// A time as Kubernetes' MicroTime, whose parser wants all six digits (k8s.io/apimachinery
// pkg/apis/meta/v1/micro_time.go): "2026-12-31T12:00:00.000000Z".
inline std::string FormatMicroTime(Time time) {
  std::string text = FormatTime(time);
  text.insert(text.size() - 1, ".000000");
  return text;
}

}  // namespace mindgate::kube
