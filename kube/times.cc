#include "kube/times.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "json/value.h"

namespace mindgate::kube {

namespace {

// A parent and a member, or a member alone; the first that is there counts.
struct Place {
  std::string_view parent;
  std::string_view member;
};
constexpr std::array<Place, 4> kPlaces = {{{"series", "lastObservedTime"},
                                           {"", "deprecatedLastTimestamp"},
                                           {"", "eventTime"},
                                           {"metadata", "creationTimestamp"}}};

template <typename Tree>
std::string FirstTimeOf(const Tree& event) {
  for (const Place& place : kPlaces) {
    std::string time = place.parent.empty() ? json::TextAt(event, {place.member})
                                            : json::TextAt(event, {place.parent, place.member});
    if (!time.empty()) return time;
  }
  return "";
}

}  // namespace

std::string LastTimeOf(const json::Value& event) { return FirstTimeOf(event); }
std::string LastTimeOf(const json::Json& event) { return FirstTimeOf(event); }

std::vector<json::Projection::Path> LastTimeFields() {
  std::vector<json::Projection::Path> fields;
  for (const Place& place : kPlaces) {
    json::Projection::Path path;
    if (!place.parent.empty()) path.emplace_back(place.parent);
    path.emplace_back(place.member);
    fields.push_back(std::move(path));
  }
  return fields;
}

}  // namespace mindgate::kube
