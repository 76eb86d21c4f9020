import Foundation
import TestSupport
import Testing

/// A server whose system has a clock that is far ahead.
@Suite(.timeLimit(.minutes(10)))
struct FarClockTests {
    /// In place of the C library's clock: this many seconds later.
    private static let clock = """
        #define _GNU_SOURCE
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *time) {
            int result = syscall(SYS_clock_gettime, clock, time);
            if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += AHEAD;
            return result;
        }
        """

    /// In 2300 the nanoseconds since 1970 do not fit into 64 bits; then 5,000 years.
    @Test(arguments: [8_640_000_000, 157_680_000_000])
    func `a server starts, waits and ends whatever the clock says`(secondsAhead: Int) async throws {
        let server = try ServerProcess()
        let (source, library) = (server.folder.path + "/clock.c", server.folder.path + "/clock.so")
        try Self.clock.write(toFile: source, atomically: true, encoding: .utf8)
        let compiled = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["clang", "-shared", "-fPIC", "-DAHEAD=\(secondsAhead)L", "-o", library, source]
        )
        try #require(compiled.exitCode == 0, "\(compiled.errors)")
        server.launcher = "LD_PRELOAD=\(library) exec \"$@\""
        try await server.start()
        // Its writer has nothing to do, and waits.
        while !server.log().contains("listening") { try await Task.sleep(for: .milliseconds(10)) }
        try await Task.sleep(for: .milliseconds(200))
        #expect(await server.end(SIGTERM) == 0, "\(server.log())")
    }
}
