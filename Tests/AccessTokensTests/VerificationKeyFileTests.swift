import Foundation
import TestSupport
import Testing

@testable import AccessTokens

@Suite struct VerificationKeyFileTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        self.directory = try TemporaryDirectory()
        self.path = self.directory.path + "/keys.json"
        try self.write(Provider.jwks([Provider().publicJWK]))
    }

    /// In place, as a shell does it.
    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self.path))
    }

    private static func look(at file: inout VerificationKeyFile, times: Int) -> [Bool] {
        (0..<times).map { _ in file.hasChanged() }
    }

    @Test func `a change counts once, when two looks in a row have found it`() throws {
        var file = VerificationKeyFile(path: self.path)
        #expect(Self.look(at: &file, times: 1) == [false])
        try self.write("{}")
        #expect(Self.look(at: &file, times: 3) == [false, true, false])
        try FileManager.default.removeItem(atPath: self.path)
        #expect(Self.look(at: &file, times: 3) == [false, true, false])
    }

    @Test func `a file that is cut or missing for a moment is not looked into`() throws {
        var file = VerificationKeyFile(path: self.path)
        try self.write("")
        #expect(Self.look(at: &file, times: 1) == [false])
        try self.write("{")
        #expect(Self.look(at: &file, times: 1) == [false])
        try FileManager.default.removeItem(atPath: self.path)
        #expect(Self.look(at: &file, times: 1) == [false])
        try self.write("{}")
        #expect(Self.look(at: &file, times: 2) == [false, true])
    }

    @Test func `a link that leads elsewhere is a change, and so is another mode`() throws {
        let link = self.directory.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: self.path)
        var file = VerificationKeyFile(path: link)
        let other = self.directory.path + "/other"
        try FileManager.default.copyItem(atPath: self.path, toPath: other)
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
        #expect(Self.look(at: &file, times: 2) == [false, true])
        chmod(other, 0o604)
        #expect(Self.look(at: &file, times: 2) == [false, true])
    }

    @Test(
        arguments: [
            (text: nil, keeps: [.always]), ("", [.always]),
            (#"{"keys":[{"kty":"oct","k":"AA"}]}"#, [.always]),
            ("{", [.whileUnreadable, .always]), ("\u{0}", [.whileUnreadable, .always]),
        ] as [(text: String?, keeps: [KeyRetention])]
    )
    func `the last keys stay as long as the operator wants them to`(
        text: String?,
        keeps: [KeyRetention]
    ) async throws {
        if let text {
            try self.write(text)
        } else {
            try FileManager.default.removeItem(atPath: self.path)
        }
        let error = await #expect(throws: VerificationKeyFileError.self) {
            try await VerificationKeyFile(path: self.path).read()
        }
        let keeping = try KeyRetention.allCases.filter { $0.keepsKeys(after: try #require(error)) }
        #expect(keeping == keeps)
    }

    @Test func `a folder and a pipe are no files of keys`() async throws {
        let pipe = self.directory.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [self.directory.path, pipe] {
            await #expect(throws: VerificationKeyFileError.self) {
                try await VerificationKeyFile(path: path).read()
            }
        }
    }
}
