#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "watcher/frame/reconcile_loop.h"

namespace mindgate::watcher {

// The loop of a controller that has one thing to reconcile: at once, then as its result asks, and
// after a fault with a back-off of one second up to a minute. Safe from many threads.
class SingleLoop {
 public:
  struct Options {
    std::string name;  // of its thread
    uint64_t seed = 1;
    std::function<std::optional<Term>()> term;
    std::function<ReconcileResult(const Term&)> reconcile;
    // The replica does not lead: what is remembered may no longer be true.
    std::function<void()> forget;
  };

  // `clock` must outlive it.
  SingleLoop(const Clock& clock, Options options)
      : loop_(clock,
              {.name = std::move(options.name),
               .backoff = {.first = std::chrono::seconds(1), .max_wait = std::chrono::seconds(60)},
               .seed = options.seed,
               .term = std::move(options.term),
               .reconcile = [reconcile = std::move(options.reconcile)](
                                const Key&, const Term& term) { return reconcile(term); },
               .forget = [forget = std::move(options.forget)](const Key&) { forget(); }}) {}

  void Enqueue() { loop_.Enqueue(Key()); }
  // Until `stop`, in the caller's thread.
  void Run(const std::stop_token& stop) {
    Enqueue();
    loop_.Run(stop);
  }

 private:
  // There is one.
  struct Key {
    friend auto operator<=>(const Key&, const Key&) = default;
    friend std::string NamespaceOf(const Key&) { return ""; }
  };

  ReconcileLoop<Key> loop_;
};

}  // namespace mindgate::watcher
