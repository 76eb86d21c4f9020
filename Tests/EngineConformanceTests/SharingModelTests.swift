import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance

/// Random owners, shares, trees, moves and requests; what everybody is shown and told is compared
/// with what a naive evaluator says from all records.
@Suite(.timeLimit(.minutes(20)))
struct SharingModelTests {
    /// Comparisons of what a user is shown with what they may see.
    private static let checksMin = 100_000

    @Test(arguments: EngineKind.modelCases)
    func `users are shown and told what they may read, and nothing else`(
        kind: EngineKind
    ) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SharingModelTests: SEED=\(generator.seed)")
        var (checks, pushChecks) = (0, 0)
        while checks < kind.rounds(Self.checksMin) {
            let world = try await SharingWorld(kind, generator: generator)
            for _ in 0..<60 { try await world.step() }
            checks += world.checks
            pushChecks += world.pushChecks
            generator = world.generator
        }
        print("SharingModelTests: \(checks) checks of what is shown, \(pushChecks) of what is told")
    }
}
