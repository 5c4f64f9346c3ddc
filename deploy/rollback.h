#pragma once

#include <string>
#include <vector>

#include "deploy/apply.h"
#include "kube/client.h"

namespace mindgate::deploy {

// What was done to one object, as much as undoing it takes.
struct Done {
  Json object;           // what it is: kind, namespace and name
  Json live;             // as it was before; null: it did not exist
  bool deleted = false;  // what was before is
  bool sent = false;     // it was applied, or may have been: nothing refused it
  Json stored;           // what applying gave; null: that is not known
  bool seeded = false;   // others write its data
  bool quiet = false;    // part of a change that is reported with another

  std::string Title() const { return TitleOf(object); }
};

// Undoes all of it within the time that `patience` has: what was applied, last first, then what was
// deleted comes back, first deleted first, so that owners are there before what they own. What
// cannot be undone is reported, and the rest is undone all the same: that is also what somebody
// changed, deleted or made since, which nothing is done to. Returns the titles of what is not as it
// was.
std::vector<std::string> Undo(kube::Client& client, RetryPolicy& retry, const Progress& progress,
                              const std::string& app, const std::vector<Done>& done);

}  // namespace mindgate::deploy
