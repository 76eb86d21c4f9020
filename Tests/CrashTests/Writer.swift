import RecordClient
import RecordModel
import Synchronization
import TestSupport

/// Saves groups of its own, one after the other, until it is told to stop or its client is gone.
struct Writer: Sendable {
    /// Single records and batches.
    private static let groupSizes = [1, 1, 1, 1, 5, 5, 20]

    let number: Int
    var groups: [RecordGroup]
    private var generator: SeededGenerator

    init(number: Int, seed: UInt64) {
        self.number = number
        self.generator = SeededGenerator(seed: seed &+ UInt64(number))
        self.groups = Self.groupSizes.enumerated().map { index, size in
            RecordGroup(name: "w\(number)-g\(index)", size: size)
        }
    }

    /// Saves until `acknowledged`, which is told of each answer, says that it is enough, or the
    /// client is shut down.
    mutating func run(_ client: RecordClient, acknowledged: @Sendable () -> Bool) async throws {
        var goesOn = true
        while goesOn {
            let index = Int.random(in: self.groups.indices, using: &self.generator)
            let save = self.groups[index].nextSave()
            do {
                try self.groups[index].answered(try await client.perform(save, timeout: .seconds(60)))
            } catch ClientError.closed {
                return  // whether the save took effect is to be found out
            }
            goesOn = acknowledged()
        }
    }
}
