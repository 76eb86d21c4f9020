/// Why a statement of the README is true.
enum Evidence: Sendable {
    /// Tests with these sentences.
    case tests([String])
    /// A text that stands in a file of the repository.
    case text(String, in: String)
    /// A text that stands in no source and no script.
    case absent(String)
    /// A rule of this target: of links, or of the fenced blocks.
    case rule(String)
    /// Figures that the statement has to have, read where they are kept.
    case figures(@Sendable (ReadmeFigures) throws -> [String])
    /// No program can check it, for this reason.
    case exempt(String)

    static func test(_ sentence: String) -> Evidence { .tests([sentence]) }
}

/// A statement of the README, by its beginning, and the evidence for it.
struct ReadmeEvidence: Sendable {
    let beginning: String
    let evidence: [Evidence]

    init(_ beginning: String, _ evidence: Evidence...) {
        self.beginning = beginning
        self.evidence = evidence
    }
}

extension ReadmeEvidence {
    private static let links = Evidence.rule("every link in a document leads somewhere")

    /// In the order of the README.
    static let all: [ReadmeEvidence] = Self.opening + Self.trial + Self.features + Self.promises

    private static let opening = [
        ReadmeEvidence("Tidemark is CloudKit for", .test("the public API is that of its digest")),
        ReadmeEvidence(
            "Code that says `import CloudKit`",
            .test("the program in the README writes a note, and meets itself when it runs again")
        ),
        ReadmeEvidence(
            "The server acknowledges a save",
            .test("a killed server has every acknowledged save, whole batches, and executes replays once")
        ),
        ReadmeEvidence(
            "```text your program",
            .text("minimumTLSVersion = .tlsv13", in: "Sources/RecordServer/TLSSetup.swift")
        ),
        ReadmeEvidence(
            "**For example:** services of several owners",
            .test("two services share a list, and each learns at once what the other adds")
        ),
        ReadmeEvidence(
            "Each owner is a user",
            .test("two services share a list, and each learns at once what the other adds")
        ),
        ReadmeEvidence(
            "The server notifies the others of each new item",
            .test("two services share a list, and each learns at once what the other adds")
        ),
        ReadmeEvidence(
            "A service that was off",
            .test("what a command had not ended with when the listener was stopped is told again")
        ),
        ReadmeEvidence(
            "After a mistake, the operator",
            .text("zone undo", in: "Sources/tidemark/Guides/Undo.md")
        ),
        ReadmeEvidence("**For** Swift services", .exempt("it says for whom the package is meant")),
        ReadmeEvidence(
            "Fifteen of sixteen",
            .text("Fifteen of sixteen published", in: "Clients/CloudKit/Documentation.docc/MovingToLinux.md"),
            .exempt("the packages are others', and are not in the repository")
        ),
        ReadmeEvidence("**Not for** web pages", .absent("cloudkit.js")),
        ReadmeEvidence("Not for data in iCloud", .absent("api.apple-cloudkit.com")),
        ReadmeEvidence(
            "Not yet for Apple devices",
            .text(".library(name: \"CloudKit\"", in: "Package.swift"),
            .exempt("there is no such machine here")
        ),
        ReadmeEvidence(
            "**One machine or many:** one process",
            .test("a second server on the same folder is refused, and told who has it")
        ),
        ReadmeEvidence(
            "Several servers share a store",
            .test("two servers serve one database, one of them stands still, and one is killed")
        ),
        ReadmeEvidence(
            "**Other languages** can use",
            .test("the Python client and the server understand each other")
        ),
    ]

    private static let trial = [
        ReadmeEvidence(
            "You need [Swift 6.3]",
            .text("Swift 6.3 or later is needed", in: "Scripts/lib-install"),
            .text("libsqlite3-dev libpq-dev libssl-dev", in: "Scripts/quickstart")
        ),
        ReadmeEvidence(
            "```sh Scripts/quickstart Scripts/build Scripts/test",
            .test("quickstart loads its data as the README shows, ends with 0, and leaves nothing behind"),
            .text("release_build", in: "Scripts/build"),
            .text("and every test but the long ones", in: "Scripts/test")
        ),
        ReadmeEvidence(
            "```text + iso-codes-service",
            .test("quickstart loads its data as the README shows, ends with 0, and leaves nothing behind")
        ),
        ReadmeEvidence(
            "The first script prints this",
            .test("quickstart loads its data as the README shows, ends with 0, and leaves nothing behind")
        ),
        ReadmeEvidence(
            "It builds everything",
            .test("quickstart loads its data as the README shows, ends with 0, and leaves nothing behind")
        ),
        ReadmeEvidence(
            "The server then runs until",
            .text("Ctrl-C stops it and removes them.", in: "Scripts/quickstart"),
            .test("quickstart loads its data as the README shows, ends with 0, and leaves nothing behind")
        ),
        ReadmeEvidence(
            "The build downloads",
            .test("a document says how many packages the first build fetches")
        ),
        ReadmeEvidence(
            "It takes eight to ten minutes",
            .text("eight to ten minutes on two cores, 1.8 GB", in: "Scripts/quickstart"),
            .exempt("a test that builds everything would take as long; Scripts/quickstart says the same")
        ),
        ReadmeEvidence(
            "The script installs missing",
            .text("install_missing", in: "Scripts/quickstart"),
            .text("sudo=(sudo)", in: "Scripts/lib-install")
        ),
        ReadmeEvidence(
            "The second script makes",
            .text("set -- tidemark tidemark-listen", in: "Scripts/build"),
            Self.links
        ),
        ReadmeEvidence(
            "The third runs all tests",
            .text("swift test --skip-build", in: "Scripts/test"),
            .text("tests 6 \"$@\"", in: "Scripts/test"),
            Self.links
        ),
        ReadmeEvidence("This is [`Notes`]", .test("the program of the README is a file of the repository")),
        ReadmeEvidence(
            "[Getting started](Clients/CloudKit/Documentation.docc/GettingStarted.md) runs it",
            .test("the commands of the first article do what it says, pasted twenty times"),
            .text("iso-codes-service", in: "Scripts/quickstart")
        ),
        ReadmeEvidence(
            "```swift import CloudKit",
            .test("the program of the README is a file of the repository")
        ),
        ReadmeEvidence(
            "Clone this repository beside",
            .test("the manifest of the README names a package, a product and traits that are there")
        ),
        ReadmeEvidence(
            "```swift // swift-tools-version",
            .test("the manifest of the README names a package, a product and traits that are there")
        ),
        ReadmeEvidence(
            "The build needs Debian's",
            .text(".apt([\"libssl-dev\"])", in: "Package.swift"),
            .text("link \"crypto\"", in: "Sources/CLibCrypto/module.modulemap")
        ),
        ReadmeEvidence(
            "`traits: []` leaves out",
            .test("a package that depends on the client fetches as many packages as the README says"),
            .test("a package that depends on the client fetches nothing that only the server uses")
        ),
        ReadmeEvidence(
            "Omit it if your tests",
            .text(".library(name: \"CloudKitTesting\"", in: "Package.swift"),
            Self.links
        ),
        ReadmeEvidence(
            "[Getting started](Clients/CloudKit/Documentation.docc/GettingStarted.md#depend",
            .text(".package(url:", in: "Clients/CloudKit/Documentation.docc/GettingStarted.md")
        ),
    ]

    private static let features = [
        ReadmeEvidence(
            "| databases |",
            .tests([
                "who is not signed in reads public databases and nothing else",
                "a zone can't be created in the shared database",
                "production takes what was deployed and nothing else",
            ])
        ),
        ReadmeEvidence(
            "| records |",
            .tests([
                "an atomic batch tells the item at fault from the others",
                "the other policies look at no tag and create what is absent",
                "a record has as many deleteSelf references as the limit and not one more",
                "whole pages of a large file bypass the page cache, and those of a small file stay in it",
            ])
        ),
        ReadmeEvidence(
            "| queries |",
            .tests([
                "a cursor is archived, and belongs to its user and its day",
                "words of the full text use a quota up", "distances are those of the ellipsoid",
            ])
        ),
        ReadmeEvidence(
            "| sync |",
            .tests([
                "a sync engine has after a restore what the server has",
                "after an absence there is word once for each subscription that has news",
                "a zone's and a database's subscription fire once a transaction",
            ])
        ),
        ReadmeEvidence(
            "| sharing |",
            .tests([
                "a share refuses what its participants can't be",
                "who was invited joins, with the permission that he was given",
                "the public permission that was saved is the server's",
            ])
        ),
        ReadmeEvidence(
            "| schemas |",
            .tests([
                "a schema is imported, compared, deployed and exported without a server",
                "a query finds what the roles of its user may read",
            ])
        ),
        ReadmeEvidence(
            "| operation |",
            .tests([
                "the image has the server's package and nothing else",
                "a console beside a server shows what the server saves, and ends with a signal",
                "a certificate is signed by its authority and names every host",
                "a key acts for those alone that it was registered for",
                "tokens of an identity provider let in, and its keys are read again",
                "a user stores as much as his quota has, and no row more",
                "a server serves all metrics, its health and its readiness",
            ])
        ),
        ReadmeEvidence(
            "| recovery |",
            .tests([
                "each restore of a backup, and of a restored store, is a life of its own",
                "a drill makes no backup, and a backup no drill",
                "the state at every position is what it was, and an undo brings it back",
                "a copy with all its increments is the store, whatever the log and the follower went through",
            ])
        ),
        ReadmeEvidence(
            "| stores |",
            .test("two servers serve one database, one of them stands still, and one is killed")
        ),
        ReadmeEvidence(
            "**Missing:** a JavaScript client",
            .text("`encryptedValues` are not encrypted at rest", in: "SECURITY.md"),
            .absent("cloudkit.js")
        ),
        ReadmeEvidence("Apple's push service is not", .absent("api.push.apple.com")),
        ReadmeEvidence(
            "[Differences](Clients/Differences/README.md) lists",
            .rule("each test that the pages of differences name exists")
        ),
    ]

    private static let promises = [
        ReadmeEvidence("On two cores, with each", .figures { try $0.saves() }),
        ReadmeEvidence("Of 100 pushes, 99 arrive", .figures { try $0.pushes() }),
        ReadmeEvidence("Large files are slower", .figures { try $0.largeFiles() }),
        ReadmeEvidence(
            "[Capacity](Sources/tidemark/Guides/Tuning.md#what-one-machine-does) has",
            .rule("each figure of the capacity guide is one of the benchmarks"),
            Self.links
        ),
        ReadmeEvidence("This is version", .rule("the README names the versions that the code has")),
        ReadmeEvidence(
            "There is no release yet",
            .text("## Unreleased", in: "CHANGELOG.md"),
            .figures { try $0.tags.isEmpty ? [] : ["no tag"] }
        ),
        ReadmeEvidence("[`VERSIONS.md`](VERSIONS.md) says", .text("a release may", in: "VERSIONS.md")),
        ReadmeEvidence("| API |", .test("the public API is that of its digest")),
        ReadmeEvidence(
            "| wire protocol |",
            .rule("the README names the versions that the code has"),
            .figures { try $0.protocolVersion() },
            .test("fields that this version does not know are skipped"),
            .test("versions without one in common are refused with those that are spoken")
        ),
        ReadmeEvidence("| data folder |", .rule("the README names the versions that the code has")),
        ReadmeEvidence("Tested on Debian 12", .figures { try $0.machine() }),
        ReadmeEvidence("No other Linux and no arm64", .exempt("nothing was tried there")),
        ReadmeEvidence("| [Articles]", Self.links),
        ReadmeEvidence("| [Operators' guide]", Self.links),
        ReadmeEvidence("| [Clients]", Self.links),
        ReadmeEvidence("| [Protocol]", Self.links),
        ReadmeEvidence("| [Architecture]", Self.links),
        ReadmeEvidence("| [Tests]", Self.links),
        ReadmeEvidence("| [Contributing]", Self.links),
        ReadmeEvidence("Apache License 2.0", .text("Version 2.0, January 2004", in: "LICENSE")),
    ]
}
