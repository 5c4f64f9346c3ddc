#pragma once

#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mindgate::kube {

// A label selector as kubectl's -l takes it, as the LabelSelector of an object: "a=b", "a!=b",
// "a in (b,c)", "a notin (b)", "a", "!a", several with commas between them. The message says what
// is wrong, without the whole text.
Result<json::Json> ParseLabelSelector(std::string_view text);

// Kubernetes' LabelSelector; null selects everything.
bool Selects(const json::Json* selector, const json::Json* labels);

}  // namespace mindgate::kube
