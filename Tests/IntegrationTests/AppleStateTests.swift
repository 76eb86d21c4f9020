import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// An app with what it kept from iCloud meets the server.
@Suite(.timeLimit(.minutes(10)))
struct AppleStateTests {
    /// An archive of Apple's framework with some bytes under one key.
    private static func archive(_ type: String, _ key: String) -> Data {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict></dict>
            <key>$objects</key><array><string>$null</string>
            <dict><key>\(key)</key><dict><key>CF$UID</key><integer>2</integer></dict>
            <key>$class</key><dict><key>CF$UID</key><integer>3</integer></dict></dict>
            <data>\(Data((0..<80).map { UInt8($0) }).base64EncodedString())</data>
            <dict><key>$classname</key><string>\(type)</string>
            <key>$classes</key><array><string>\(type)</string><string>NSObject</string></array></dict>
            </array></dict></plist>
            """
        return Data(text.utf8)
    }

    @Test func `a token of iCloud has expired, and a cursor is no good`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("a"))
            let token = try #require(
                try NSKeyedUnarchiver.unarchivedObject(
                    ofClass: CKServerChangeToken.self,
                    from: Self.archive("CKServerChangeToken", "ChangeTokenData")
                )
            )
            await expect(.changeTokenExpired) {
                _ = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: token)
            }
            await expect(.changeTokenExpired) { _ = try await desk.database.databaseChanges(since: token) }
            let anew = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: nil)
            #expect(anew.modificationResultsByID.count == 1)
            let cursor = try #require(
                try NSKeyedUnarchiver.unarchivedObject(
                    ofClass: CKQueryOperation.Cursor.self,
                    from: Self.archive("CKQueryCursor", "CursorData")
                )
            )
            await expect(.invalidArguments) {
                _ = try await desk.database.records(continuingMatchFrom: cursor)
            }
        }
    }
}
