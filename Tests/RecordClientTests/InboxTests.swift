import NIOCore
import Testing

@testable import RecordClient

struct InboxTests {
    private func isWoken(_ inbox: Inbox) -> Bool { inbox.add(.cancel(number: 1)) }

    @Test func `the first message wakes the loop and the others do not`() {
        let inbox = Inbox()
        #expect(self.isWoken(inbox))
        #expect(!self.isWoken(inbox))
        #expect(inbox.takeAll().count == 2)
        #expect(self.isWoken(inbox))
    }

    @Test func `a session that is about to look is not woken`() {
        let inbox = Inbox()
        inbox.attend()
        #expect(!self.isWoken(inbox))
        #expect(inbox.takeAll().count == 1)
        #expect(self.isWoken(inbox), "what it took was the end of its attention")
    }
}
