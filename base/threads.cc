#include "base/threads.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace mindgate {

std::jthread StartThread(const std::string& name, std::function<void()> body) {
  // Blocked before the thread exists: it inherits the mask, so that there is no moment in which it
  // could be chosen.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
  return thread;
}

}  // namespace mindgate
