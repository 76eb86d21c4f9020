import Foundation
import RecordClient
import TestSupport
import Testing
import WireProtocol

@testable import CloudKit

extension NotificationConsumer {
    /// The subscriptions of the next ones.
    fileprivate func take(_ count: Int) async -> [String] {
        var taken: [String] = []
        for _ in 0..<count { taken.append(await self.next()?.subscriptionID ?? "ended") }
        return taken
    }
}

@Suite(.timeLimit(.minutes(10))) struct NotificationStreamTests {
    @Test func `notifications come in order, and asking for the next acknowledges the one before`() async {
        let script = ScriptedListener()
        let consumer = script.hub().consumer()
        script.tell(.began(user: "_me"))
        script.notify(1...3)
        #expect(await consumer.take(1) == ["1/1"])
        #expect(script.acknowledged.isEmpty)
        #expect(await consumer.take(2) == ["1/2", "1/3"])
        #expect(script.acknowledged == ["1/1", "1/2"])
    }

    @Test func `a notification is of its class and names the container`() async throws {
        let script = ScriptedListener()
        let hub = script.hub()
        let (one, other) = (hub.consumer(), hub.consumer())
        script.notify(1...1)
        let notification = try #require(await one.next() as? CKRecordZoneNotification)
        #expect(notification.recordZoneID?.zoneName == "desk")
        #expect(notification.containerIdentifier == "iCloud.c")
        #expect(notification.commitDate == Date(timeIntervalSince1970: 1.5))
        #expect(notification.notificationID != nil)
        #expect(await other.next()?.notificationID == notification.notificationID)
    }

    @Test func `a waiting iteration is woken by the next notification`() async {
        let script = ScriptedListener()
        let consumer = script.hub().consumer()
        async let first = consumer.next()?.subscriptionID
        await until { script.starts != 0 }
        script.notify(1...1)
        #expect(await first == "1/1")
    }

    @Test func `each of several gets every notification, and the slowest decides what is acknowledged`() async
    {
        let script = ScriptedListener()
        let hub = script.hub()
        let quick = hub.consumer()
        let slow = hub.consumer()
        #expect(script.starts == 1)
        script.notify(1...3)
        #expect(await quick.take(3) == ["1/1", "1/2", "1/3"])
        #expect(script.acknowledged.isEmpty)
        #expect(await slow.take(2) == ["1/1", "1/2"])
        #expect(script.acknowledged == ["1/1"])
        hub.leave(2)
        #expect(script.acknowledged == ["1/1", "1/2"])
    }

    @Test func `a later iteration gets later notifications`() async {
        let script = ScriptedListener()
        let hub = script.hub()
        let early = hub.consumer()
        script.notify(1...2)
        let late = hub.consumer()
        script.notify(3...3)
        #expect(await late.take(1) == ["1/3"])
        #expect(await early.take(3) == ["1/1", "1/2", "1/3"])
        #expect(script.acknowledged == ["1/1", "1/2"])
    }

    @Test func `the last iteration that ends stops the listener, and the next one starts it again`() async {
        let script = ScriptedListener()
        let hub = script.hub()
        var consumers: [NotificationConsumer] = [hub.consumer(), hub.consumer()]
        script.notify(1...1)
        consumers.removeLast()
        #expect(script.stops == 0)
        consumers.removeLast()
        #expect(script.stops == 1 && script.acknowledged.isEmpty)
        let next = hub.consumer()
        #expect(script.starts == 2)
        script.notify(9...9, listener: 1)
        script.notify(1...1, connection: 2)
        #expect(await next.take(1) == ["2/1"])
    }

    @Test func `a cancelled task ends its iteration, and its notification is acknowledged`() async {
        let script = ScriptedListener()
        let hub = script.hub()
        let consumer = hub.consumer()
        script.notify(1...1)
        let task = Task { await consumer.take(2) }
        await until { !script.acknowledged.isEmpty }
        task.cancel()
        #expect(await task.value == ["1/1", "ended"])
        #expect(script.stops == 1)
        #expect(await consumer.take(1) == ["ended"])
    }

    @Test func `a notification of an earlier connection is delivered and not acknowledged on the next one`()
        async
    {
        let script = ScriptedListener()
        let consumer = script.hub().consumer()
        script.tell(.began(user: "_me"))
        script.notify(1...2)
        #expect(await consumer.take(1) == ["1/1"])
        script.tell(.interrupted(.unreachable(description: "gone"), retryIn: .zero))
        script.tell(.began(user: "_me"))
        script.notify(1...1, connection: 2)
        #expect(await consumer.take(2) == ["1/2", "2/1"])
        #expect(script.acknowledged.isEmpty)
        script.notify(2...2, connection: 2)
        #expect(await consumer.take(1) == ["2/2"])
        #expect(script.acknowledged == ["2/1"])
    }

    @Test func `of earlier connections 64 are kept, the latest`() async {
        let script = ScriptedListener()
        let consumer = script.hub().consumer()
        script.tell(.began(user: "_me"))
        script.notify(1...64)
        script.tell(.began(user: "_me"))
        script.notify(1...10, connection: 2)
        script.tell(.began(user: "_me"))
        script.notify(1...64, connection: 3)
        let taken = await consumer.take(128)
        #expect(taken.first == "1/11" && taken.last == "3/64")
        #expect(script.acknowledged.last == "3/63")
    }

    @Test func `a connection that is closed for good ends the iteration`() async {
        let script = ScriptedListener()
        let hub = script.hub()
        let consumer = hub.consumer()
        async let next = consumer.take(1)
        await until { script.starts != 0 }
        script.tell(.ended)
        #expect(await next == ["ended"])
        #expect(await hub.consumer().take(1) == ["ended"])
        #expect(script.starts == 1)
    }

    @Test func `each iteration gets the status, and so does a later one`() async {
        let script = ScriptedListener()
        let hub = script.hub()
        let events = Events()
        let first = hub.consumer { events.note("first \($0.short)") }
        script.tell(.began(user: "_me"))
        let second = hub.consumer { events.note("second \($0.short)") }
        script.tell(.interrupted(.unreachable(description: "gone"), retryIn: .milliseconds(1_500)))
        await until { events.all.count >= 4 }
        #expect(
            events.all.sorted() == [
                "first 4 in 1.5", "first listening", "second 4 in 1.5", "second listening",
            ]
        )
        withExtendedLifetime((first, second)) {}
    }

    @Test func `without a token, or without a server, there is nothing to iterate over`() async {
        let events = Events()
        let anonymous = CKServerConnection(url: "tidemark://127.0.0.1:1", certificateAuthority: .pem(""))
        for connection in [anonymous, CKServerConnection(url: "nowhere", token: "t")] {
            let container = CKContainer(identifier: "org.example.silent", connection: connection)
            for await _ in container.notifications(onStatusChange: { events.note($0.short) }) {
                events.note("came")
            }
        }
        #expect(events.all == ["9 in nil", "5 in nil"])
    }

    @Test func `a container whose server cannot be reached goes on trying until it is cancelled`() async {
        let events = Events()
        let container = CKContainer.unreachable("org.example.patient")
        let task = Task {
            for await _ in container.notifications(onStatusChange: { events.note($0.short) }) {}
            return Task.isCancelled
        }
        await until { events.all.count >= 2 }
        task.cancel()
        #expect(await task.value)
        #expect(events.all.allSatisfy { $0.hasPrefix("4 in ") }, "\(events.all)")
    }
}
