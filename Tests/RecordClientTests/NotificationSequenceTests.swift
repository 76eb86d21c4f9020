import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

@Suite struct NotificationSequenceTests {
    /// A sequence of a connection that has accepted the listener.
    private var listening: NotificationSequence {
        var sequence = NotificationSequence()
        sequence.listenSent(stream: 1)
        sequence.listenAnswered(isAccepted: true)
        return sequence
    }

    @Test func `a notification before the answer to listen is a violation`() {
        var sequence = NotificationSequence()
        #expect(sequence.violation(by: 1) == .frameUnexpected)
        sequence.listenSent(stream: 3)
        #expect(sequence.isListen(3) && !sequence.isListen(1))
        #expect(sequence.violation(by: 1) == .frameUnexpected)
        sequence.listenAnswered(isAccepted: false)
        #expect(sequence.violation(by: 1) == .frameUnexpected)
    }

    @Test(arguments: [[0], [2], [1, 1], [1, 3], [1, 2, 1], [UInt64.max]])
    func `numbers start at 1 and rise by one`(numbers: [UInt64]) {
        var sequence = self.listening
        for number in numbers.dropLast() { #expect(sequence.violation(by: number) == nil) }
        #expect(numbers.last.map { sequence.violation(by: $0) } == .notificationOutOfTurn)
    }

    @Test func `64 may be unacknowledged, and a 65th is a violation`() {
        var sequence = self.listening
        for number in 1...UInt64(64) { #expect(sequence.violation(by: number) == nil) }
        var other = sequence
        #expect(other.violation(by: 65) == .notificationOutOfTurn)
        sequence.take(upTo: 1)
        // What was not sent yet, the server does not know of.
        other = sequence
        #expect(other.violation(by: 65) == .notificationOutOfTurn)
        #expect(sequence.acknowledge() == 1)
        #expect(sequence.violation(by: 65) == nil)
        #expect(sequence.violation(by: 66) == .notificationOutOfTurn)
    }

    @Test func `the highest number is acknowledged, once, whatever the order`() {
        var sequence = self.listening
        for number in 1...UInt64(5) { _ = sequence.violation(by: number) }
        #expect(sequence.acknowledge() == nil)
        sequence.take(upTo: 3)
        sequence.take(upTo: 2)
        #expect(sequence.acknowledge() == 3)
        #expect(sequence.acknowledge() == nil)
        sequence.take(upTo: 3)
        #expect(sequence.acknowledge() == nil)
        sequence.take(upTo: 6)
        #expect(sequence.acknowledge() == nil, "a number that never came")
        sequence.take(upTo: 5)
        #expect(sequence.acknowledge() == 5)
    }
}

extension NotificationSequence {
    /// Receives a notification; `nil` if the server may send it.
    fileprivate mutating func violation(by number: UInt64) -> Violation? {
        do throws(Violation) {
            try self.receive(number)
            return nil
        } catch {
            return error
        }
    }
}
