import Admission
import EngineThreads
import RecordModel
import StorageContract
import Testing

@Suite struct RequesterHolderTests {
    @Test func `A signed-in user pays for their requests and others pay by network`() {
        var requester = Requester(
            database: DatabaseID(rawValue: 1),
            scope: .public,
            environment: EnvironmentID(rawValue: 7),
            userRecordName: "alice",
            network: "203.0.113.7"
        )
        #expect(requester.holder == .user(environment: 7, "alice"))
        requester.userRecordName = nil
        #expect(requester.holder == .address("203.0.113.7"))
    }
}
