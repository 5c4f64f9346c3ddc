#pragma once

#include <string>
#include <vector>

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

}  // namespace mindgate::kube
