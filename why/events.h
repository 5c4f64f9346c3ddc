#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "kube/client.h"
#include "why/facts.h"

namespace mindgate::why {

// The newest Events of a namespace that are about one of these objects ("Pod/chat-0"), the oldest
// first: kMaxEvents at most.
void ReadEvents(kube::Client& client, const std::set<std::string>& about, Facts& facts,
                const std::stop_token& stop);

}  // namespace mindgate::why
