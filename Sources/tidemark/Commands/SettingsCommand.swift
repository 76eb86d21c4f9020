import ArgumentParser

/// The command `tidemark settings`.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List every setting of the server, with its default and bounds.",
        discussion: """
            A setting is looked for in the flags, then in the environment, then in the file given with --config:

              tidemark serve --set in_flight_max=256
              TIDEMARK_IN_FLIGHT_MAX=256 tidemark serve
              echo '{"in_flight_max": 256}' > tidemark.json; tidemark serve --config tidemark.json
            """
    )

    func run() throws {
        let texts = TextSetting.allCases.map { [$0.rawValue, $0.defaultText, "", $0.meaning] }
        let numbers = NumberSetting.all.map { setting in
            [
                setting.name, "\(setting.read(.defaults))",
                "\(setting.range.lowerBound)…\(setting.range.upperBound)", setting.meaning,
            ]
        }
        Terminal.write(
            Terminal.table(header: ["NAME", "DEFAULT", "BOUNDS", "MEANING"], rows: texts + numbers)
        )
    }
}
