#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace mindgate::policies::site {

// What a message says, and of which place.
struct FieldMessage {
  std::string path;  // RFC 6901 pointer; empty: of the whole object
  std::string text;  // without the place
};

// "spec.template.spec.containers[0].image: not from our registry" names a place if the object has
// it, or the object or list that would hold it. Field paths are written as Kubernetes prints them:
// a.b[0].c, and keys with dots or slashes in brackets.
FieldMessage ReadFieldMessage(const json::Value& object, std::string_view message);

}  // namespace mindgate::policies::site
