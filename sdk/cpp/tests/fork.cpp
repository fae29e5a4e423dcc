// A node in C++ and a child of its process: the DAC is the first argument. What the child inherits throws, and ends in
// silence; its own node works.

#include "counter.hpp"

#include <oasis/node.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

namespace {

/// The child: a node of its own, and how the one of its parent ends.
int be_child(const std::string &dac, oasis::PushedProbe<Counter> probe,
             [[maybe_unused]] oasis::Node parents) {
  alarm(60);
  try {
    probe.flush(Counter{1});
    return 3;
  } catch (const oasis::LibraryError &error) {
    if (error.status() != OASIS_STATUS_FORKED) return 4;
  }
  oasis::NodeBuilder builder("child");
  auto own = builder.pushed<Counter>("counter");
  oasis::Node node = builder.start(dac);
  if (!own.flush(Counter{2})) return 5;
  node.shutdown();
  return 0;
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    return 2;
  }
  oasis::NodeBuilder builder("parent");
  auto probe = builder.pushed<Counter>("counter");
  oasis::Node node = builder.start(arguments[1]);
  const pid_t child = fork();
  if (child == 0) {
    // Through the exit handlers of the process, as any program.
    std::exit(be_child(arguments[1], std::move(probe), std::move(node)));
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::cerr << "the child has ended with " << status << '\n';
    return 1;
  }
  if (!probe.flush(Counter{3})) return 1;
  node.shutdown();
  return 0;
}
