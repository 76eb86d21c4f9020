import RecordModel
import RecordStore
import Testing
import WireProtocol

@testable import RecordServer

/// What a connection hears and what its acknowledgements mean, as transcripts.
struct ListenerStateMachineTests {
    @Test func `a listen starts once, and those that come meanwhile are answered with it`() {
        var machine = ListenerStateMachine()
        let first = machine.listenRequested(on: 1)
        #expect(first == .start)
        let second = machine.listenRequested(on: 3)
        #expect(second == .wait)
        let streams = machine.began()
        #expect(streams == [1, 3])
        let third = machine.listenRequested(on: 5)
        #expect(third == .answer)
    }

    @Test func `who could not begin may ask again`() {
        var machine = ListenerStateMachine()
        _ = machine.listenRequested(on: 1)
        let streams = machine.failed()
        #expect(streams == [1])
        let isWatching = machine.isWatching
        #expect(!isWatching)
        let again = machine.listenRequested(on: 3)
        #expect(again == .start)
    }

    @Test func `an acknowledgement before listen was answered closes`() {
        var deaf = ListenerStateMachine()
        let onDeaf = deaf.acknowledged(1)
        #expect(onDeaf == .close(.frameKindUnexpected))
        var starting = ListenerStateMachine()
        _ = starting.listenRequested(on: 1)
        let onStarting = starting.acknowledged(1)
        #expect(onStarting == .close(.frameKindUnexpected))
    }

    @Test func `nobody hears anything before listening began`() {
        var machine = ListenerStateMachine()
        let onDeaf = machine.notificationArrived(Self.notification(1, at: 1), isWritable: true)
        #expect(onDeaf == .ignore)
        _ = machine.listenRequested(on: 1)
        let onStarting = machine.notificationArrived(Self.notification(1, at: 1), isWritable: true)
        #expect(onStarting == .ignore)
    }

    @Test func `numbers start at 1 and rise by one`() {
        var machine = Self.listening()
        for number in 1...UInt64(Bounds.notificationsUnacknowledgedMax) {
            let sent = machine.notificationArrived(
                Self.notification(number, at: Int64(number)),
                isWritable: true
            )
            #expect(sent == .send(number: number))
        }
    }

    @Test(arguments: [UInt64(4), 5, .max])
    func `a number that was not sent closes`(number: UInt64) {
        var machine = Self.listening()
        Self.send(3, to: &machine)
        let action = machine.acknowledged(number)
        #expect(action == .close(.messageMalformed))
    }

    @Test func `an acknowledgement says the last position of each subscription, and nothing twice`() {
        var machine = Self.listening()
        let first = Sample.subject(1)
        let second = Sample.subject(2)
        for (subject, position) in [(first, 10), (second, 11), (first, 12), (second, 13)] {
            let notification = Self.notification(of: subject, at: Int64(position))
            _ = machine.notificationArrived(notification, isWritable: true)
        }
        let three = machine.acknowledged(3)
        #expect(
            three
                == .acknowledge([
                    Acknowledgement(subscription: second.key, position: 11),
                    Acknowledgement(subscription: first.key, position: 12),
                ])
        )
        let again = machine.acknowledged(3)
        #expect(again == .ignore)
        let before = machine.acknowledged(1)
        #expect(before == .ignore)
        let four = machine.acknowledged(4)
        #expect(four == .acknowledge([Acknowledgement(subscription: second.key, position: 13)]))
    }

    @Test func `beyond 64 the last of each subscription waits, in the order of their turns`() {
        var machine = Self.listening()
        Self.send(64, to: &machine)
        let first = Sample.subject(101)
        let second = Sample.subject(102)
        let kept = [(first, 65), (second, 66), (first, 67), (first, 68)].map { subject, position in
            machine.notificationArrived(
                Self.notification(of: subject, at: Int64(position)),
                isWritable: true
            )
        }
        #expect(
            kept == [
                .keep(isCoalesced: false), .keep(isCoalesced: false), .keep(isCoalesced: true),
                .keep(isCoalesced: true),
            ]
        )
        let none = machine.nextWaiting()
        #expect(none == nil)
        _ = machine.acknowledged(2)
        let one = machine.nextWaiting()
        #expect(one?.number == 65)
        #expect(one?.notification.position == 68)
        #expect(one?.isCoalesced == true)
        let two = machine.nextWaiting()
        #expect(two?.number == 66)
        #expect(two?.notification.position == 66)
        #expect(two?.isCoalesced == false)
        let three = machine.nextWaiting()
        #expect(three == nil)
    }

    @Test func `what arrives while others wait comes after them`() {
        var machine = Self.listening()
        let waiting = Sample.subject(1)
        let onWaiting = machine.notificationArrived(Self.notification(of: waiting, at: 1), isWritable: false)
        #expect(onWaiting == .keep(isCoalesced: false))
        let isBlocked = machine.isBlocked
        #expect(isBlocked)
        let later = machine.notificationArrived(Self.notification(2, at: 2), isWritable: true)
        #expect(later == .keep(isCoalesced: false))
        let first = machine.nextWaiting()
        #expect(first?.notification.subject === waiting)
        let second = machine.nextWaiting()
        #expect(second?.number == 2)
        let isStillBlocked = machine.isBlocked
        #expect(!isStillBlocked)
        let third = machine.notificationArrived(Self.notification(3, at: 3), isWritable: true)
        #expect(third == .send(number: 3))
    }

    @Test func `contents that would take too much memory wait as news`() throws {
        var machine = Self.listening()
        Self.send(64, to: &machine)
        let bytes = Self.large(1_001, at: 1, bytes: 10_000).content.count
        let count = NotificationWindow.waitingBytesMax / bytes + 1
        for number in 1...UInt64(count) {
            let notification = Self.large(1_000 + number, at: Int64(number), bytes: 10_000)
            _ = machine.notificationArrived(notification, isWritable: true)
        }
        _ = machine.acknowledged(64)
        var contents: [Int] = []
        while let ready = machine.nextWaiting() {
            contents.append(ready.notification.content.count)
            _ = machine.acknowledged(ready.number)
            if contents.count == count {
                #expect(ready.isCoalesced)
                #expect(try ready.notification.decoded().event == .query(nil))
                #expect(ready.notification.position == Int64(count))
            }
        }
        #expect(contents.count == count)
        #expect(contents.dropLast().allSatisfy { $0 >= 10_000 })
        #expect(contents.last.map { $0 < 1_000 } == true)
    }

    @Test func `ten thousand that wait all get their turn`() {
        var machine = Self.listening()
        Self.send(64, to: &machine)
        for number in 1...UInt64(10_000) {
            _ = machine.notificationArrived(Self.notification(1_000 + number, at: 1), isWritable: true)
        }
        _ = machine.acknowledged(64)
        var numbers: [UInt64] = []
        while let ready = machine.nextWaiting() {
            numbers.append(ready.notification.subject.number)
            _ = machine.acknowledged(ready.number)
        }
        #expect(numbers == (1_001...11_000).map { UInt64($0) })
    }

    @Test func `a subscription that fires once asks for its deletion once`() {
        let once = Sample.subject(1, Sample.query(on: [.creation, .once]))
        #expect(once.handed())
        #expect(!once.handed())
        #expect(!Sample.subject(2, Sample.query()).handed())
    }

    // MARK: - Machines and notifications

    private static func listening() -> ListenerStateMachine {
        var machine = ListenerStateMachine()
        _ = machine.listenRequested(on: 1)
        _ = machine.began()
        return machine
    }

    private static func send(_ count: Int, to machine: inout ListenerStateMachine) {
        for number in 1...count {
            _ = machine.notificationArrived(
                Self.notification(UInt64(number), at: Int64(number)),
                isWritable: true
            )
        }
    }

    private static func notification(_ subscription: UInt64, at position: Int64) -> OutgoingNotification {
        self.notification(of: Sample.subject(subscription), at: position)
    }

    private static func notification(
        of subject: ListenedSubscription,
        at position: Int64
    ) -> OutgoingNotification {
        subject.news(upTo: position, isCoalesced: false)
    }

    private static func large(_ subscription: UInt64, at position: Int64, bytes: Int) -> OutgoingNotification
    {
        var info = NotificationInfo()
        info.desiredKeys = ["text"]
        let subject = Sample.subject(subscription, Sample.query(), info: info)
        let text = String(repeating: "x", count: bytes)
        let id = RecordID(zone: ZoneID(zoneName: "Zone"), recordName: "record")
        let content = NotificationContent(
            of: subject,
            event: .query(Notification.RecordChange(id: id, reason: .recordUpdated)),
            values: RecordBody([Field(name: "text", value: .string(text))]),
            committedMilliseconds: 1
        )
        return OutgoingNotification(
            about: subject,
            position: position,
            content: content.encoded,
            isCoalesced: false
        )
    }
}

extension NotificationWindow.Ready: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.notification === right.notification
            && left.isCoalesced == right.isCoalesced
    }
}
