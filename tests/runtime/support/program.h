// Running a program from a test: its exit code, what it printed, and what it is not allowed to do.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace burin::test {

struct Result {
  int code = 0; // 128 + signal for a program that one killed
  std::string out, err;
};

struct Limits {
  std::optional<size_t> fileSize{}; // bytes that it may write to one file
  bool unprivileged = false;        // as user nobody: root may write everywhere
};

// A running program whose output goes to files.
class Program {
public:
  Program(const std::string &path, const std::vector<std::string> &arguments, Limits limits = {});
  ~Program();
  void signal(int number) const;
  std::string out() const; // so far
  Result wait();

private:
  pid_t process_ = -1;
  std::filesystem::path folder_;
};

Result run(const std::string &path, const std::vector<std::string> &arguments, Limits limits = {});

// The same with a terminal as standard output; `out` holds what reached the terminal.
Result runOnTerminal(const std::string &path, const std::vector<std::string> &arguments);

// A folder that goes away with the object.
class Folder {
public:
  Folder();
  ~Folder();
  std::string file(const std::string &name) const { return path_ / name; }
  // Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &content) const;

private:
  std::filesystem::path path_;
};

std::string readFile(const std::string &path);

// English-like text of printable bytes, the same for the same size.
std::string sampleText(size_t size);

} // namespace burin::test
