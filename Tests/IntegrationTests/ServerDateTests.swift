import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Dates that a client has from the server, in its queries and subscriptions.
@Suite(.timeLimit(.minutes(10)))
struct ServerDateTests {
    private static let schema = """
        DEFINE SCHEMA
            RECORD TYPE Note (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___modTime" TIMESTAMP QUERYABLE SORTABLE,
                "___recordID" REFERENCE QUERYABLE
            );
        """

    /// Of today: a server takes no request ID of another day.
    private static let wholeSecond = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())

    private static func run(_ body: (Desk) async throws -> Void) async throws {
        try await Desk.run { desk in
            try await desk.server.importSchema(self.schema)
            try await body(desk)
        }
    }

    private static func names(_ format: String, _ arguments: Any..., in desk: Desk) async throws -> [String] {
        let query = CKQuery(
            recordType: "Note",
            predicate: NSPredicate(format: format, argumentArray: arguments)
        )
        query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: true)]
        let page = try await desk.database.records(matching: query, inZoneWith: desk.zone)
        return page.matchResults.map { $0.0.recordName }
    }

    /// JSON, property lists of other programs, and databases keep dates since 1970.
    private static func detour(_ date: Date) -> Date {
        Date(timeIntervalSince1970: date.timeIntervalSince1970)
    }

    @Test
    func `a record is found by its own dates, and the last is not news to who polls, at any millisecond`()
        async throws
    {
        try await Self.run { desk in
            desk.server.clock.stop(at: Self.wholeSecond)
            for number in 0..<40 {
                let name = "n\(number)"
                let saved = try await desk.database.save(desk.record(name))
                let created = try #require(saved.creationDate)
                let modified = try #require(saved.modificationDate)
                for date in [created, Self.detour(created)] {
                    #expect(try await Self.names("creationDate == %@", date, in: desk) == [name])
                    #expect(try await Self.names("creationDate IN %@", [date], in: desk) == [name])
                    #expect(try await Self.names("creationDate > %@", date, in: desk).isEmpty)
                    #expect(try await Self.names("creationDate >= %@", date, in: desk) == [name])
                    #expect(try await Self.names("creationDate < %@", date, in: desk).count == number)
                }
                for date in [modified, Self.detour(modified)] {
                    #expect(try await Self.names("modificationDate > %@", date, in: desk).isEmpty)
                    #expect(try await Self.names("modificationDate != %@", date, in: desk).count == number)
                }
                let fetched = try await desk.database.record(for: desk.id(name))
                #expect(fetched.creationDate == created && fetched.modificationDate == modified)
                #expect(created == desk.server.clock.now)
                desk.server.clock.advance(by: .milliseconds(1 + number % 7))
            }
        }
    }

    @Test
    func `a query's subscription compares dates of the server as queries do`() async throws {
        try await Self.run { desk in
            desk.server.clock.stop(at: Self.wholeSecond.addingTimeInterval(0.001))
            let dates = (0..<8).map { desk.server.clock.now.addingTimeInterval(Double($0) / 1_000) }
            for (number, date) in dates.enumerated() {
                let subscription = CKQuerySubscription(
                    recordType: "Note",
                    predicate: NSPredicate(format: "creationDate == %@", Self.detour(date) as NSDate),
                    subscriptionID: "at-\(number)",
                    options: .firesOnRecordCreation
                )
                try await desk.database.save(subscription)
            }
            var connection = try await desk.server.connection(for: "alice")
            // Equal connections are shared.
            guard case .pem(let authority) = connection.certificateAuthority else {
                throw ListenerProcessError()
            }
            connection.certificateAuthority = .pem(authority + "\n")
            let other = CKContainer(
                identifier: TestServer.defaultContainerIdentifier,
                connection: connection
            )
            var iterator = await other.listening()
            for number in dates.indices {
                try await desk.database.save(desk.record("n\(number)"))
                desk.server.clock.advance(by: .milliseconds(1))
            }
            for number in dates.indices {
                let notification = try #require(await iterator.next() as? CKQueryNotification)
                #expect(notification.subscriptionID == "at-\(number)")
                #expect(notification.recordID?.recordName == "n\(number)")
            }
        }
    }
}
