import RecordModel
import Synchronization

/// The devices of a user.
///
/// Each is notified of the saves of the others, and fetches them.
final class UserDevices: Sendable {
    private struct Expected {
        let device: Int
        let done: PushListener.Done
        /// The version of the save, once it was answered.
        var version: UInt64?
        var answeredAt: ContinuousClock.Instant?
        /// The version that each device has seen.
        var seen: [Int: (version: UInt64, at: ContinuousClock.Instant)] = [:]
    }

    private struct State {
        var devices: Set<Int> = []
        var expected: [String: Expected] = [:]
        /// The last acknowledged version of each record.
        var acknowledged: [String: UInt64] = [:]
    }

    private let state = Mutex(State())

    func join(_ device: Int) { self.state.withLock { _ = $0.devices.insert(device) } }

    /// The acknowledged versions by record name.
    ///
    /// A fetch that begins now must return them.
    var acknowledged: [String: UInt64] { self.state.withLock { $0.acknowledged } }

    /// Announces a device's save of a record.
    ///
    /// `done` is called once, when it was answered and all others have it.
    func expect(_ recordName: String, by device: Int, done: @escaping PushListener.Done) {
        self.state.withLock { state in
            state.expected[recordName] = Expected(device: device, done: done)
        }
    }

    func answered(_ recordName: String, version: UInt64, failure: String?) {
        self.change(recordName) { expected, state in
            if let failure { return .failure(MissedNotification(reason: failure, isViolation: false)) }
            expected.version = version
            expected.answeredAt = .now
            state.acknowledged[recordName] = version
            return Self.end(of: expected, state.devices)
        }
    }

    /// Notes that a device has fetched a version of a record.
    func seen(_ recordName: String, version: UInt64, by device: Int, at time: ContinuousClock.Instant) {
        self.change(recordName) { expected, state in
            guard device != expected.device else { return nil }
            // Before the response it is unknown whether this is the version.
            expected.seen[device] = (version, time)
            return Self.end(of: expected, state.devices)
        }
    }

    /// Gives up on saves that were answered before this time and are not on all devices.
    func expire(before time: ContinuousClock.Instant) {
        let late = self.state.withLock { state in
            let names = state.expected.filter { $0.value.answeredAt.map { $0 < time } ?? false }.keys
            return names.compactMap { state.expected.removeValue(forKey: $0) }
        }
        for expected in late {
            expected.done(.failure(MissedNotification(reason: "not on all devices", isViolation: true)))
        }
    }

    /// When the last device got it, or `nil` if one has not.
    private static func end(
        of expected: Expected,
        _ devices: Set<Int>
    ) -> Result<ContinuousClock.Instant, MissedNotification>? {
        guard let version = expected.version else { return nil }
        let there = expected.seen.values.filter { $0.version == version }
        guard there.count == devices.count - (devices.contains(expected.device) ? 1 : 0) else { return nil }
        return .success(there.map(\.at).max() ?? .now)
    }

    private func change(
        _ recordName: String,
        _ body: (inout Expected, inout State) -> Result<ContinuousClock.Instant, MissedNotification>?
    ) {
        let over: (PushListener.Done, Result<ContinuousClock.Instant, MissedNotification>)? = self.state
            .withLock { state in
                guard var expected = state.expected[recordName] else { return nil }
                let result = body(&expected, &state)
                state.expected[recordName] = result == nil ? expected : nil
                return result.map { (expected.done, $0) }
            }
        over.map { $0.0($0.1) }
    }
}
