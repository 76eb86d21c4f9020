import StorageContract
import Testing

@testable import RecordStore

/// When cursors are written, and by which job.
struct ListenerCursorsTests {
    private let cursors = ListenerCursors()

    private func add(_ ids: [String], at position: Int64 = 1) -> ListenerCursors.Pause? {
        let acknowledgements = ids.map {
            Acknowledgement(
                subscription: SubscriptionKey(
                    database: SubscriptionWorld.own,
                    owner: SubscriptionWorld.alice,
                    id: $0,
                    position: 1
                ),
                position: position
            )
        }
        return self.cursors.add(acknowledgements, by: SubscriptionWorld.listener())
    }

    private var unwritten: [String: Int64] {
        let all = self.cursors.unwritten(of: SubscriptionWorld.listener().installation)
        return Dictionary(uniqueKeysWithValues: all.map { ($0.key.subscription, $0.value.position) })
    }

    @Test func `the first asks for a job, and those behind it wait for the next`() {
        #expect(self.add([]) == nil)
        #expect(self.add(["a"]) == .second)
        #expect(self.add(["b"]) == nil)
        let job = self.cursors.newJob()
        #expect(self.cursors.take(for: job, max: 10).count == 2)
        #expect(self.add(["c"]) == nil, "a job is on its way")
        #expect(self.unwritten.keys.sorted() == ["a", "b", "c"], "what is taken is not durable")
        #expect(self.cursors.written(by: job) == .second)
        #expect(self.unwritten.keys.sorted() == ["c"])
        let next = self.cursors.newJob()
        _ = self.cursors.take(for: next, max: 10)
        #expect(self.cursors.written(by: next) == nil)
        #expect(self.add(["d"]) == .second)
    }

    @Test func `a job that is executed again writes the same, and one that fails puts it back`() {
        _ = self.add(["a", "b", "c"], at: 5)
        let job = self.cursors.newJob()
        let taken = self.cursors.take(for: job, max: 2)
        #expect(taken.count == 2)
        #expect(self.cursors.take(for: job, max: 2) == taken)
        _ = self.add(["a", "b", "c"], at: 4)
        #expect(self.unwritten == ["a": 5, "b": 5, "c": 5])
        _ = self.add(["a"], at: 6)
        #expect(self.cursors.failed(job) == .second)
        #expect(self.unwritten == ["a": 6, "b": 5, "c": 5], "no position goes back")
        #expect(self.cursors.take(for: self.cursors.newJob(), max: 10).count == 3)
    }

    @Test func `many are written without a pause, and what is beyond the bound is forgotten`() {
        let ids = (0..<ListenerCursors.waitingMax + 1).map { "s\($0)" }
        #expect(self.add(ids) == .second)
        #expect(self.unwritten.count == ListenerCursors.waitingMax)
        _ = self.add(["s0"], at: 9)
        #expect(self.unwritten["s0"] == 9, "what waits is moved on")
        let job = self.cursors.newJob()
        _ = self.cursors.take(for: job, max: ListenerCursors.waitingMax - ListenerCursors.waitingMany)
        #expect(self.cursors.written(by: job) == ListenerCursors.Pause.none)
        let last = self.cursors.newJob()
        _ = self.cursors.take(for: last, max: 1)
        #expect(self.cursors.written(by: last) == .second)
    }

    @Test func `databases are watched until there were as many stops as starts`() {
        let watched = WatchedDatabases()
        let databases = [SubscriptionWorld.open, SubscriptionWorld.own]
        for _ in 0..<2 { watched.add(SubscriptionWorld.listener()) }
        watched.remove(SubscriptionWorld.listener(2))
        #expect(Set(watched.watched.keys) == Set(databases))
        watched.remove(SubscriptionWorld.listener())
        watched.remove(SubscriptionWorld.listener())
        #expect(watched.watched.isEmpty)
    }

    @Test func `subscriptions that fire while a job is on its way share it`() {
        let expired = ExpiredSubscriptions()
        let keys = ["a", "b", "c"].map {
            SubscriptionKey(database: SubscriptionWorld.own, owner: "", id: $0, position: 1)
        }
        #expect(expired.add([keys[0]]))
        #expect(!expired.add([keys[1]]))
        let taken = expired.take(with: [])
        #expect(taken == [keys[0], keys[1]])
        #expect(expired.add([keys[2]]), "it came too late")
        #expect(expired.take(with: taken) == Set(keys), "a job that is executed again")
    }
}
