import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// A client that follows the feeds of all zones of a user during the load, as a mirror would.
///
/// It compares each feed with what the user's writers know (`FollowedZone`).
final class Follower: Sendable {
    /// The pause after the end of all feeds.
    private static let pause = Duration.milliseconds(200)
    /// The pause after a failed request.
    private static let pauseAfterFailure = Duration.milliseconds(250)

    let client: RecordClient
    /// In findings.
    private let name: String
    /// All workers of the user.
    private let workers: [Worker]
    private let isStopped = Mutex(false)

    init(_ number: Int, client: RecordClient, workers: [Worker]) {
        self.name = "follower \(number)"
        self.client = client
        self.workers = workers
    }

    private struct Feed {
        let zone: ZoneID
        var token: [UInt8]
        var followed: FollowedZone
    }

    private enum Page {
        case last
        case more
        case failed
    }

    /// Ends the following after one more time to the end of each feed.
    func stop() { self.isStopped.withLock { $0 = true } }

    /// Follows the feeds until `stop`.
    ///
    /// - Parameter tokens: A token of each zone, of a time when nothing is written.
    /// - Returns: The number of times that it came to the end of a feed.
    func follow(from tokens: [[UInt8]]) async -> Int {
        var feeds = self.feeds(from: tokens)
        var ends = 0
        while !Task.isCancelled {
            // Changes that were acknowledged before the stop have to come in this round.
            let isLast = self.isStopped.withLock { $0 }
            for index in feeds.indices {
                if await self.reachEnd(&feeds[index], isLast: isLast) {
                    ends += 1
                } else if isLast, !Task.isCancelled {
                    self.note([self.unread(feeds[index])])
                }
            }
            if isLast { break }
            try? await Task.sleep(for: Self.pause)
        }
        return ends
    }

    private func feeds(from tokens: [[UInt8]]) -> [Feed] {
        let layout = self.workers[0].settings.layout
        let knowledge = self.knowledge
        var keyIDs: [ZoneID: Set<FollowedZone.KeyID>] = [:]
        for worker in self.workers {
            let keys = worker.state.withLock { $0.keys }
            for key in keys.keys.indices {
                let zone = layout.recordID(key, in: keys).zone
                keyIDs[zone, default: []].insert(FollowedZone.KeyID(worker: worker.number, key: key))
            }
        }
        return zip(layout.zones, tokens).map { zone, token in
            let followed = FollowedZone(
                zone.zoneName,
                reading: self.name,
                keyIDs: keyIDs[zone] ?? [],
                knowledge: knowledge
            )
            return Feed(zone: zone, token: token, followed: followed)
        }
    }

    private var knowledge: FollowedZone.Knowledge {
        var knowledge: FollowedZone.Knowledge = [:]
        for worker in self.workers { knowledge[worker.number] = worker.state.withLock { $0.keys.keys } }
        return knowledge
    }

    /// Reads a feed to its end.
    ///
    /// - Returns: Whether it got there. A failure ends the attempt, unless it is the last one.
    private func reachEnd(_ feed: inout Feed, isLast: Bool) async -> Bool {
        let limit = ContinuousClock.now + self.workers[0].settings.timeout
        while !Task.isCancelled {
            switch await self.takePage(&feed) {
            case .last: return true
            case .more: break
            case .failed:
                guard isLast, .now < limit else { return false }
                try? await Task.sleep(for: Self.pauseAfterFailure)
            }
        }
        return false
    }

    private func takePage(_ feed: inout Feed) async -> Page {
        let settings = self.workers[0].settings
        let asked = self.knowledge
        let request = FetchChanges(
            scope: .private,
            zone: feed.zone,
            token: feed.token,
            limit: UInt32(settings.page)
        )
        do throws(ClientError) {
            let (items, end) = try await self.client.response(to: .fetchChanges(request), settings.timeout)
            self.note(feed.followed.take(items.compactMap(\.foundInFeed)))
            feed.token = end.token
            guard !end.moreComing else { return .more }
            self.note(feed.followed.reachedEnd(asked: asked, now: self.knowledge))
            return .last
        } catch {
            guard case .refused(let failure) = error, failure.code == .changeTokenExpired else {
                return .failed
            }
            self.note([Violation(expiredTokenIn: feed.zone.zoneName, reading: self.name)])
            feed.token = []
            feed.followed.restart()
            return .more
        }
    }

    /// The finding about a feed with an end that could not be reached any more.
    private func unread(_ feed: Feed) -> Violation {
        Violation(
            kind: .unseen,
            zone: feed.zone.zoneName,
            recordName: "all records",
            expected: "the end of the feed",
            found: "no response",
            reading: self.name
        )
    }

    private func note(_ violations: [Violation]) {
        for violation in violations { self.workers[0].note(violation) }
    }
}

extension Item {
    /// A record, or a deletion, of a feed.
    fileprivate var foundInFeed: ZoneComparison.Found? {
        switch self.outcome {
        case .record(let message):
            guard let record = try? message.record() else { return nil }
            return ZoneComparison.Found(record)
        case .recordDeleted(let deleted): return ZoneComparison.Found(name: deleted.id.recordName, version: 0)
        default: return nil
        }
    }
}
