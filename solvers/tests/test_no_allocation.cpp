// The search does not allocate: this program counts the calls of operator new.
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "arrangement.hpp"
#include "check.hpp"
#include "instances.hpp"
#include "tree.hpp"

namespace {

std::atomic<long> allocations{0};

void* count_and_allocate(std::size_t size) {
    ++allocations;
    void* memory = std::malloc(size > 0 ? size : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t size) { return count_and_allocate(size); }
void* operator new[](std::size_t size) { return count_and_allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// Solves every draw twice with one tree; the second time everything has its size. Returns the allocations of the second
// round and, in `nodes`, its nodes.
long allocations_when_warm(const Instance& instance, std::int64_t* nodes) {
    const cudbound::Problem problem = instance.view();
    const cudbound::Arrangement arrangement = cudbound::merge_rows(problem.n, problem.p, problem.design);
    const std::atomic<bool> stop{false};
    const cudbound::Limits limits;
    cudbound::Tree tree(problem, arrangement, stop, limits);
    std::vector<double> witness(instance.p);
    for (int d = 0; d < instance.draws; ++d) tree.solve(d, cudbound::Side::BOTH, witness.data());
    *nodes = 0;
    const long before = allocations;
    for (int d = 0; d < instance.draws; ++d) *nodes += tree.solve(d, cudbound::Side::BOTH, witness.data()).nodes;
    return allocations - before;
}

}  // namespace

// The counter works.
TEST(allocations_are_counted) {
    const long before = allocations;
    std::vector<double> some(10);
    some.push_back(1.0);
    CHECK_AT_MOST(before + 2, allocations.load());
}

// Clear labels, n = 50: thousands of nodes of the main search, no search of the apex.
TEST(main_search) {
    Random random(111);
    for (const int p : {1, 2, 3, 5}) {
        check::set_context("p", p);
        const Instance instance = random_instance(random, 50, p, RowKind::general, LabelKind::clear, 50);
        std::int64_t nodes = 0;
        CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
        CHECK_AT_MOST(p == 1 ? 0 : 100, nodes);
    }
}

// Many hyperplanes through a point: conflicts are looked for in the main search too.
TEST(integer_features) {
    Random random(112);
    const Instance instance = random_instance(random, 50, 4, RowKind::integers, LabelKind::clear, 30);
    std::int64_t nodes = 0;
    CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
    CHECK_AT_MOST(100, nodes);
}

// Weak labels: the best open cell is searched, by visiting all of them and, for p >= 4, by conflicts first.
TEST(apex_search) {
    Random random(113);
    for (const int p : {2, 3, 4, 5}) {
        check::set_context("p", p);
        const Instance instance = random_instance(random, p > 3 ? 25 : 50, p, RowKind::general, LabelKind::noise, 20);
        std::int64_t nodes = 0;
        CHECK_EQUAL(allocations_when_warm(instance, &nodes), 0);
        CHECK_AT_MOST(100, nodes);
    }
}
