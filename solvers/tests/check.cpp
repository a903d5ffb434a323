#include "check.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace check {

namespace {

struct Case {
    const char* name;
    void (*run)();
};

std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

int failures = 0;
std::string context;

template <class Number>
std::string all_digits(Number value) {
    std::ostringstream out;
    out << std::setprecision(17) << value;
    return out.str();
}

double percent() {
    const char* const share = std::getenv("CUDBOUND_TRIALS");
#ifdef CUDBOUND_SANITIZED
    constexpr double usual = 15.0;  // instrumented code is ten times as slow, and looks for other faults
#else
    constexpr double usual = 100.0;
#endif
    return share == nullptr ? usual : std::strtod(share, nullptr);
}

// Runs the case whose name is the only argument, or all of them.
int run(int argc, char** argv) {
    int ran = 0;
    for (const Case& one : cases()) {
        if (argc > 1 && std::strcmp(argv[1], one.name) != 0) continue;
        ++ran;
        const int before = failures;
        context.clear();
        try {
            one.run();
        } catch (const std::exception& error) {
            fail(one.name, 0, (std::string("exception: ") + error.what()).c_str());
        }
        std::cout << (failures == before ? "passed  " : "FAILED  ") << one.name << '\n';
    }
    if (ran == 0) std::cout << "no such case\n";
    std::cout << ran << " cases, " << failures << " failed checks\n";
    return failures == 0 && ran > 0 ? 0 : 1;
}

}  // namespace

bool enlist(const char* name, void (*run)()) {
    cases().push_back({name, run});
    return true;
}

int trials(int many) {
    constexpr int least = 24;
    return std::max(std::min(many, least), static_cast<int>(many * percent() / 100.0));
}

int share_of(int many) { return percent() < 100.0 ? static_cast<int>(many * percent() / 200.0) : many; }

std::string text_of(double value) { return all_digits(value); }
std::string text_of(long double value) { return all_digits(value); }
std::string text_of(long long value) { return std::to_string(value); }
std::string text_of(unsigned long long value) { return std::to_string(value); }

void set_context(const std::vector<std::string>& parts) {
    context.clear();
    for (const std::string& part : parts) context += part + ' ';
}

void fail(const char* file, int line, const char* text) {
    constexpr int enough = 30;
    if (++failures > enough) return;
    std::cout << file << ':' << line << ": " << text;
    if (!context.empty()) std::cout << "   [" << context << ']';
    std::cout << '\n';
}

void fail(const char* file, int line, const char* text, const std::string& left, const std::string& right) {
    fail(file, line, (std::string(text) + "   left " + left + "   right " + right).c_str());
}

}  // namespace check

int main(int argc, char** argv) { return check::run(argc, argv); }
