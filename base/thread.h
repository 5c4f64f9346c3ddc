#pragma once

#include <functional>
#include <string>
#include <thread>

namespace mindgate {

// A named thread that takes no signals, not even SIGPIPE of its own sockets: they are left to the
// thread that waits for them. The name is cut at 15 bytes, the kernel's limit.
std::jthread StartThread(const std::string& name, std::function<void()> body);

}  // namespace mindgate
