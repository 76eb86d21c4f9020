import Foundation
import RecordClient
import TestSupport
import Testing

@testable import CloudKit

/// One after the other: whoever observes the notification hears of it from all.
@Suite(.timeLimit(.minutes(10)), .serialized) struct AccountChangeTests {
    @Test func `a change of the server's word on the token is posted, and only that`() {
        let events = Events()
        let observer = OlderCalls.observe { events.note("changed") }
        defer { NotificationCenter.default.removeObserver(observer) }
        let answer = SignInResponse()
        for isAccepted in [true, true, false, false, true] { answer.note(isAccepted: isAccepted) }
        SignInResponse().note(isAccepted: false)
        #expect(events.all == ["changed", "changed"])
    }

    @Test func `after a status of temporarily unavailable the server's next word is posted`() {
        let events = Events()
        let observer = OlderCalls.observe { events.note("changed") }
        defer { NotificationCenter.default.removeObserver(observer) }
        let answer = SignInResponse()
        for isAccepted in [true, false] {
            answer.note(isAccepted: true)
            let count = events.all.count
            // The first who is told so has to ask on, and nobody else.
            #expect(answer.await() && !answer.await() && answer.isAwaited)
            answer.note(isAccepted: isAccepted)
            #expect(events.all.count == count + 1 && !answer.isAwaited)
            answer.note(isAccepted: isAccepted)
            #expect(events.all.count == count + 1)
        }
    }

    @Test func `a restriction is posted, and its end to whoever asks on`() {
        let events = Events()
        let observer = OlderCalls.observe { events.note("changed") }
        defer { NotificationCenter.default.removeObserver(observer) }
        let answer = SignInResponse()
        answer.noteRestriction()
        #expect(events.all.isEmpty && answer.await(), "the first response is no change")
        answer.noteRestriction()
        #expect(events.all.isEmpty && answer.isAwaited)
        answer.note(isAccepted: true)
        #expect(events.all.count == 1 && !answer.isAwaited)
        answer.noteRestriction()
        answer.noteRestriction()
        #expect(events.all.count == 2)
        answer.note(isAccepted: false)
        #expect(events.all.count == 3)
    }

    @Test func `a listener that is refused posts that the account has changed`() async {
        let script = ScriptedListener()
        let hub = script.hub()
        let events = Events()
        let observer = OlderCalls.observe { events.note("changed") }
        defer { NotificationCenter.default.removeObserver(observer) }
        let consumer = hub.consumer { events.note($0.short) }
        script.tell(.began(user: "_me"))
        let refusal = ListeningEvent.interrupted(
            .rejected(reason: .notAuthenticated, message: "no"),
            retryIn: .seconds(1)
        )
        script.tell(refusal)
        script.tell(refusal)
        script.tell(.began(user: "_me"))
        await until { events.all.count >= 6 }
        #expect(
            events.all == [
                "listening", "changed", "9 in 1.0", "9 in 1.0", "changed", "listening",
            ]
        )
        withExtendedLifetime(consumer) {}
    }
}
