/// Waits until something is so, or until the test's time is over.
///
/// A wait that ignores the cancellation at a test's time limit would hold the whole run.
package func until(
    isolation: isolated (any Actor)? = #isolation,
    _ isSo: () async throws -> Bool
) async rethrows {
    while try await !isSo(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}
